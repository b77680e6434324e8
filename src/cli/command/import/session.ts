import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { FOREIGN_AGENTS, type ForeignAgent, type ForeignSession } from '../../../session/import/foreign-session.ts'
import { type SessionImport, writeForeignSession } from '../../../session/import/write-session.ts'
import { jsonlStore } from '../../../session/store/jsonl-store.ts'
import { getInvocationName } from '../../args/invocation-name.ts'
import { rejectExtraArgs } from '../../args/parse-command-line.ts'
import { readSettings } from '../../config/read-settings.ts'
import { expandHome, getSessionsFolder } from '../../paths/folders.ts'
import { newSessionId, resolveWorkFolder, withStoreErrors } from '../../setup/assemble-agent.ts'
import { EXIT_CODE, UserError } from '../../user-error.ts'
import type { ImportOptions } from './import.ts'
import { findForeignSessions, type FoundSession, readSessionFile } from './session-files.ts'
import { formatFoundSessions, formatImport, toListItem } from './session-text.ts'

/** `dragoman import session`: copies a session of another agent into the sessions of this folder. */
export async function runImportSession(positionals: readonly string[], values: ImportOptions): Promise<number> {
  rejectExtraArgs('dragoman import session', positionals, 1)
  const folder = resolveWorkFolder(values)
  const [name] = positionals
  if (values.list) {
    if (name !== undefined) throw new UserError('--list takes no file or id')
    const found = findSessions(folder, values)
    process.stdout.write(values.json ? `${JSON.stringify(found.map(describeFound))}\n` : formatFoundSessions(found))
    return EXIT_CODE.ok
  }
  const session = await loadSession(name, folder, values)
  if (session === undefined) return EXIT_CODE.ok
  if (!session.steps.some(({ role }) => role === 'user' || role === 'assistant' || role === 'summary'))
    throw new UserError(`the session of ${FOREIGN_AGENTS[session.agent]} has no messages; nothing was imported`)
  const { id, report } = await withStoreErrors(() => storeSession(session, folder))
  const { findings, ...counts } = report
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ session: id, agent: session.agent, original: session.id, folder: session.folder, ...counts, findings })}\n`
      : formatImport({ id, session, report, folder, resume: formatResumeCommand(id, values) }),
  )
  return EXIT_CODE.ok
}

function formatResumeCommand(id: string, { cwd }: ImportOptions): string {
  return `${getInvocationName()} ${cwd === undefined ? '' : `--cwd ${cwd} `}--resume ${id}`
}

async function storeSession(session: ForeignSession, folder: string): Promise<{ id: string; report: SessionImport }> {
  const log = await jsonlStore(getSessionsFolder(folder)).create({ id: newSessionId(), folder })
  try {
    const report = writeForeignSession(log, session)
    await log.flush()
    return { id: log.id, report }
  } finally {
    await log.close()
  }
}

function findSessions(folder: string, { from, all }: ImportOptions): FoundSession[] {
  const agents: readonly ForeignAgent[] = from === undefined ? (Object.keys(FOREIGN_AGENTS) as ForeignAgent[]) : [from]
  const found = findForeignSessions(agents, folder)
  return all ? found : found.filter((session) => session.isOfFolder)
}

function describeFound({ agent, id, path, folder, title, changed }: FoundSession) {
  return { agent, id, path, folder, title, changed: new Date(changed).toISOString() }
}

/** Undefined if the user chose none. */
async function loadSession(
  name: string | undefined,
  folder: string,
  values: ImportOptions,
): Promise<ForeignSession | undefined> {
  if (name !== undefined && name !== 'latest') {
    const path = resolve(expandHome(name))
    if (existsSync(path)) return readSessionFile(path, values.from, folder)
    if (name.includes('/') || name.includes('.')) throw new UserError(`the file ${name} does not exist`)
    return findById(name, findSessions(folder, { ...values, all: true }))
  }
  const found = findSessions(folder, values)
  if (found.length === 0) throw new UserError(describeNothingFound(values))
  if (name === 'latest' || values.json) return found[0]?.load()
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UserError(
      'there is no terminal to choose a session on; name a file, an id or “latest”. List them with dragoman import session --list',
    )
  return (await pickSession(found, folder))?.load()
}

function describeNothingFound({ from, all }: ImportOptions): string {
  const agents = from === undefined ? Object.values(FOREIGN_AGENTS).join(', ') : FOREIGN_AGENTS[from]
  return `no session of ${agents} was found${all ? '' : ' for this folder; --all also shows those of other folders'}`
}

function findById(id: string, all: readonly FoundSession[]): ForeignSession {
  const found = all.filter((session) => session.id?.startsWith(id))
  const [first, ...others] = found
  if (!first)
    throw new UserError(`there is no file and no session “${id}”; list them with dragoman import session --list --all`)
  if (others.length > 0) throw new UserError(`“${id}” is the beginning of ${found.length} sessions; write more of it`)
  return first.load()
}

async function pickSession(found: readonly FoundSession[], folder: string): Promise<FoundSession | undefined> {
  const { chooseFromList } = await import('../../tui/onboarding/list-dialog.ts')
  const { styledLine } = await import('../../tui/term/styled-line.ts')
  const { resolveTheme } = await import('../../tui/term/theme.ts')
  const theme = resolveTheme(readSettings(folder).config.theme ?? 'auto', process.env)
  return chooseFromList(
    [styledLine('Sessions of other agents, newest first. Choose one to import:', 'strong'), []],
    found.map((session) => ({ value: session, ...toListItem(session) })),
    theme,
  )
}
