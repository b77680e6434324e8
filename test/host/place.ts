import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LocalHost, type LocalOptions, localHost } from '../../src/host/local-host.ts'
import { clearAway } from '../support/clear.ts'

/** Folders on the disk for one test: a workspace, a place outside, and a host. */
export interface Place extends Disposable {
  readonly base: string
  readonly ws: string
  readonly outside: string
  readonly scratch: string
  readonly host: LocalHost
}

/** Makes the folders. `options` may allow more than the workspace. */
export function place(options: (base: string) => Partial<LocalOptions> = () => ({})): Place {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'dragoman-host-')))
  const [ws, outside, scratch] = [join(base, 'ws'), join(base, 'outside'), join(base, 'scratch')]
  for (const folder of [ws, outside]) mkdirSync(folder)
  mkdirSync(join(ws, 'src'))
  writeFileSync(join(ws, 'README.md'), '# demo\n')
  writeFileSync(join(ws, 'src/a.ts'), 'export const a = 1\n')
  writeFileSync(join(outside, 'secret.txt'), 'OUTSIDE\n')
  const host = localHost({ folders: [ws], scratch, ...options(base) })
  return {
    base,
    ws,
    outside,
    scratch,
    host,
    [Symbol.dispose]() {
      host.close()
      clearAway(base)
    },
  }
}
