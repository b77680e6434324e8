import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { createSessionNotices } from '../../src/session/session-notices.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import type { Store } from '../../src/session/store/store.ts'
import { clearAway } from './clear.ts'

const root = mkdtempSync(join(tmpdir(), 'dragoman-log-'))
after(() => clearAway(root))

/** A log on the disk, to be damaged. */
export interface LogCase {
  readonly folder: string
  readonly file: string
  readonly store: Store
  lines(): string[]
  write(lines: readonly string[]): void
  /** Opens it, says what the person is told, goes on with it, and gives what is in it then. */
  reopen(): Promise<{ told: string; texts: string[]; damages: readonly string[] }>
}

/** A folder that is gone when the tests are over. */
export function freshFolder(): string {
  return mkdtempSync(join(root, 'log-'))
}

/** A log with notes from 0 on. */
export async function logWith(count: number): Promise<LogCase> {
  const folder = freshFolder()
  const file = join(folder, 'log.jsonl')
  const store = jsonlStore(folder)
  const log = await store.create({ id: 'log', folder: '/' })
  for (let at = 0; at < count; at++) log.append({ kind: 'note', text: String(at) })
  await log.close()
  return {
    folder,
    file,
    store,
    lines: () => readFileSync(file, 'utf8').split('\n'),
    write: (lines) => writeFileSync(file, lines.join('\n')),
    async reopen() {
      const opened = await store.open('log')
      opened.append({ kind: 'note', text: 'more' })
      await opened.close()
      const { entries } = await store.read('log')
      return {
        told: createSessionNotices(opened).join(' '),
        texts: entries.flatMap((entry) => (entry.kind === 'note' ? [entry.text] : [])),
        damages: opened.damages.map(({ what }) => what),
      }
    },
  }
}
