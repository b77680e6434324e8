import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { tryOrUndefined } from '../../../../model/try-or-undefined.ts'
import { getDataFolder } from '../../../paths/folders.ts'
import { updatePrivateFile } from '../../../paths/private-file.ts'

/** Should the import be offered at this start? Only once, and only where another agent was used; it must cost nothing. */
export function isImportOfferDue(): boolean {
  return !existsSync(offerFilePath()) && AGENT_FOLDERS.some((name) => existsSync(join(homedir(), name)))
}

/** The question was answered, or the command was used. */
export function recordImportOffer(): void {
  // Where the home folder cannot be written, it is offered again.
  tryOrUndefined(() => updatePrivateFile(offerFilePath(), () => '{}\n'))
}

const AGENT_FOLDERS = ['.claude', '.claude.json', '.codex', '.gemini', '.config/opencode']

function offerFilePath(): string {
  return join(getDataFolder(), 'import-offer.json')
}
