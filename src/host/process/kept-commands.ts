import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isObject, tryParseJson } from '../../model/json.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { isProcessMarker, keepAfterExit } from './kill-on-exit.ts'
import { isCommandAlive, type ProcessGroup } from './process-group.ts'

/** A command that goes on after the session that started it. */
export interface KeptCommand {
  readonly id: string
  readonly command: string
  readonly folder: string
  readonly startedAt: number
  readonly group: ProcessGroup
  readonly outputFile: string
}

/** The commands of a session that go on after it. A file in its folder names them, so that it finds them when it is resumed. */
export interface KeptCommands {
  has(group: ProcessGroup): boolean
  /** Returns why it is not possible. */
  add(command: KeptCommand): string | undefined
  /** It is being stopped. */
  remove(group: ProcessGroup): void
  /** Those of an earlier host that still run. */
  read(): readonly KeptCommand[]
}

export function createKeptCommands(scratch: string): KeptCommands {
  const path = join(scratch, 'background.json')
  const all = new Map<number, KeptCommand>()

  function save(): void {
    if (all.size === 0) return rmSync(path, { force: true })
    mkdirSync(scratch, { recursive: true, mode: 0o700 })
    writeFileSync(path, `${JSON.stringify([...all.values()].map(toRecord), undefined, 2)}\n`, { mode: 0o600 })
  }

  return {
    has: ({ id }) => all.has(id),
    add(command) {
      const { group } = command
      if (group.isolated) return 'it runs in the sandbox, which ends with the session'
      all.set(group.id, command)
      keepAfterExit(group)
      save()
      return undefined
    },
    remove(group) {
      if (all.delete(group.id)) save()
    },
    read() {
      const json = tryParseJson(tryOrUndefined(() => readFileSync(path, 'utf8')) ?? '')
      const records = Array.isArray(json) ? json.flatMap((record) => parseRecord(record, scratch)) : []
      for (const record of records) if (isCommandAlive(record.group)) all.set(record.group.id, record)
      if (all.size < records.length) save()
      return [...all.values()]
    },
  }
}

function toRecord({ id, command, folder, startedAt, group, outputFile }: KeptCommand) {
  return { id, command, folder, startedAt, group, output: basename(outputFile) }
}

/** The output is always a file of the session. */
function parseRecord(record: unknown, scratch: string): KeptCommand[] {
  if (!isObject(record) || !isObject(record['group'])) return []
  const { id, command, folder, startedAt, output, group } = record
  const { id: pid, marker } = group
  if (typeof id !== 'string' || typeof command !== 'string' || typeof folder !== 'string') return []
  if (typeof startedAt !== 'number' || typeof output !== 'string') return []
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 2) return []
  // A command may have written the file; it must not name processes of others.
  if (typeof marker !== 'string' || !isProcessMarker(marker)) return []
  const outputFile = join(scratch, basename(output))
  return [{ id, command, folder, startedAt, group: { id: pid, marker }, outputFile }]
}
