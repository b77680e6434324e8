import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { shared } from './paths.ts'

/** A fault to inject, and what must be true afterwards. */
export interface FaultCase {
  readonly id: string
  readonly where: string
  readonly scenario: string
  readonly inject: Readonly<Record<string, unknown>>
  readonly expect: {
    readonly retried: string
    readonly maxAttempts: number
    readonly userSees: string
    readonly kept: readonly string[]
    readonly never: readonly string[]
  }
}

/** Injects one fault, and looks at what is true afterwards. */
export type Play = (fault: FaultCase, t: TestContext) => void | Promise<void>

/** How each case is played, by its id. */
export type Plays = Readonly<Record<string, Play>>

const path = join(shared, 'security/faults.json')

/** Why there is nothing to play: the cases are kept beside the repository, and not everybody has them. */
export const noFaults: false | string = existsSync(path) ? false : 'the cases of ../shared/security are absent'

/** All cases. */
export function faultCases(): readonly FaultCase[] {
  if (noFaults) return []
  return (JSON.parse(readFileSync(path, 'utf8')) as { cases: FaultCase[] }).cases
}

/** How often each case is played: timing is random, so more is better; DRAGOMAN_FAULTS=20 for twenty times. */
const TIMES = Number(process.env['DRAGOMAN_FAULTS'] ?? 1)

/** Plays the cases of a table, several at a time, because they wait more than they work. A case that the table names must be there. */
export function playFaults(name: string, plays: Plays, concurrency = 4): void {
  describe(name, { skip: noFaults, concurrency }, () => {
    const known = new Map(faultCases().map((fault) => [fault.id, fault]))
    for (const [id, play] of Object.entries(plays)) {
      const fault = known.get(id)
      test(`${id} ${fault?.scenario ?? ''}`, { timeout: 120_000 * TIMES }, async (t) => {
        assert.ok(fault, `there is no case ${id}`)
        for (let time = 0; time < TIMES; time++) await play(fault, t)
      })
    }
  })
}
