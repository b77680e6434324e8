import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { INITIAL_SUM } from '../../src/session/log/log-line.ts'

/** The logs of all sessions under a home folder. */
export function logsIn(home: string): string[] {
  const sessions = join(home, '.local/share/dragoman')
  if (!existsSync(sessions)) return []
  return readdirSync(sessions, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(sessions, name))
}

/** The entries of a log, with their checksums, as anybody reads them. */
export function entriesIn(file: string): Record<string, unknown>[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** Entries as a log of the first version, whose sums are right whatever the entries are. */
export function forgedLog(entries: readonly Record<string, unknown>[]): string {
  let sum = INITIAL_SUM
  return entries
    .map((entry) => {
      const text = JSON.stringify({ ...entry, sum: undefined, hash: undefined })
      sum = createHash('sha256').update(sum).update(text).digest('hex').slice(0, 16)
      return `${text.slice(0, -1)},"sum":"${sum}"}\n`
    })
    .join('')
}
