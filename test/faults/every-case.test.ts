import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultCases, noFaults, type Plays } from '../support/faults.ts'
import { commandPlays } from './command.ts'
import { diskPlays } from './disk.ts'
import { logPlays } from './log.ts'
import { processPlays } from './process.ts'
import { sessionPlays } from './session.ts'
import { streamPlays } from './stream.ts'

const TABLES: readonly Plays[] = [streamPlays, commandPlays, processPlays, diskPlays, logPlays, sessionPlays]

/** Cases that are no matter of streams, sessions, processes or disks, or that belong to another part of the house. */
const ELSEWHERE: readonly [ids: readonly string[], why: string][] = [
  [range(30, 50), 'the HTTP client and its retries: test/provider'],
  [['fa-068', 'fa-096'], 'settings: test/cli'],
  [['fa-097'], 'sign-in: test/provider and test/cli'],
  [range(102, 103), 'certificates and hints to wait: test/provider and test/wire'],
  [range(104, 108), 'growth over a thousand commands, sessions or files: bench'],
  [range(109, 117), 'tool servers: they come with MCP'],
  [range(118, 123), 'pages of the web: the tools that fetch them'],
  [range(124, 129), 'settings and the sandbox: test/cli and test/host'],
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
})

test('what concerns streams, processes and disks is played here', { skip: noFaults }, () => {
  const played = new Set(TABLES.flatMap((table) => Object.keys(table)))
  const missing = faultCases().filter(({ id, where }) => /^(?:stream|process|disk)$/.test(where) && !played.has(id))
  assert.deepEqual(
    missing.map(({ id }) => id),
    ['fa-068', ...range(109, 117)],
  )
})

/** The ids from one number to another. */
function range(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, at) => `fa-${String(from + at).padStart(3, '0')}`)
}
