import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { faultCases, noFaults, type Plays } from '../support/faults.ts'
import { root } from '../support/paths.ts'
import { commandPlays } from './command.ts'
import { diskPlays } from './disk.ts'
import { logPlays } from './log.ts'
import { processPlays } from './process.ts'
import { serverPlays } from './servers.ts'
import { sessionPlays } from './session.ts'
import { settingsPlays } from './settings.ts'
import { streamPlays } from './stream.ts'

const TABLES: readonly Plays[] = [
  streamPlays,
  commandPlays,
  processPlays,
  diskPlays,
  logPlays,
  sessionPlays,
  serverPlays,
  settingsPlays,
]

/** Cases that are no matter of streams, sessions, processes or disks: the files that see to them. */
const ELSEWHERE: readonly [ids: readonly string[], files: readonly string[]][] = [
  [range(30, 41), ['test/wire/fault.test.ts', 'test/provider/retry.test.ts', 'test/provider/send.test.ts']],
  [range(42, 43), ['test/provider/retry.test.ts', 'test/provider/storm.test.ts']],
  [range(44, 50), ['test/provider/send.test.ts', 'test/provider/proxy.test.ts']],
  [['fa-097'], ['test/provider/google.test.ts']],
  [range(102, 103), ['test/provider/proxy.test.ts', 'test/wire/fault.test.ts']],
  [range(104, 106), ['test/host/processes.test.ts', 'test/provider/send.test.ts', 'test/mcp/hostile.test.ts']],
  [range(107, 108), ['test/session/store.test.ts', 'bench/files.bench.ts']],
  [range(118, 123), ['test/host/web.test.ts', 'test/tool/web.test.ts', 'test/injection/page.test.ts']],
]

test('every fault is played here, or it is said where it belongs', { skip: noFaults }, () => {
  const played = TABLES.flatMap((table) => Object.keys(table))
  const elsewhere = ELSEWHERE.flatMap(([ids]) => ids)
  const counted = [...played, ...elsewhere]
  assert.deepEqual(
    faultCases()
      .map(({ id }) => id)
      .filter((id) => !counted.includes(id)),
    [],
    'cases that nobody plays',
  )
  assert.equal(new Set(counted).size, counted.length, 'a case stands in two places')
  for (const file of ELSEWHERE.flatMap(([, files]) => files)) assert.ok(existsSync(join(root, file)), file)
})

test('what concerns streams, sessions, processes, disks and settings is played here', { skip: noFaults }, () => {
  const elsewhere = new Set(ELSEWHERE.flatMap(([ids]) => ids))
  const places = new Set(
    faultCases()
      .filter(({ id }) => elsewhere.has(id))
      .map(({ where }) => where),
  )
  for (const where of ['stream', 'session', 'process', 'disk', 'settings'])
    assert.equal(places.has(where), false, where)
})

/** The ids from one number to another. */
function range(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, at) => `fa-${String(from + at).padStart(3, '0')}`)
}
