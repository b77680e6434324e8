import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { check } from './mutate-check.ts'
import { makePlan } from './mutate-plan.ts'
import { startRandom } from './mutate-random.ts'
import { runCase, startTally, type Tally } from './mutate-run.ts'
import type { Kit } from './mutate-stream.ts'

/** How many streams are made in all, over all wires; `DRAGOMAN_CASES` asks for more. */
const TOTAL = Number(process.env['DRAGOMAN_CASES'] ?? 100_000)

/** The same seed makes the same cases; without one, every run makes others. */
const SEED = Number(process.env['DRAGOMAN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

/** One case alone, as a failure prints it: `wire:number`. */
const ONLY = process.env['DRAGOMAN_CASE']?.split(':')

/** With fewer cases than this, some mutation may not have had its turn. */
const ENOUGH = 5000

/** The share of all streams that each wire gets; those of all files make 100. */
export type Share = readonly [kit: Kit, percent: number]

/** Declares the tests of some wires; a few test files share the work, because each has a processor of its own. */
export function mutationSuite(...shares: readonly Share[]): void {
  const tallies = new Map<Kit, Tally>()
  console.log(`mutation fuzz, seed ${SEED}`)
  describe('no mutation of a stream makes a call run that the model did not make', () => {
    for (const [kit, percent] of shares) {
      const cases = Math.round((TOTAL * percent) / 100)
      if (ONLY) test(kit.wire.id, { skip: ONLY[0] !== kit.wire.id }, () => runOne(kit, Number(ONLY[1])))
      else
        test(
          `${kit.wire.id}, ${cases} streams`,
          { timeout: 1_800_000 },
          () => void tallies.set(kit, runAll(kit, cases)),
        )
      test(`${kit.wire.id}: the fuzz itself can fail`, () => canFail(kit))
    }
    after(() => {
      for (const [kit, tally] of tallies) console.log(summary(kit, tally))
    })
  })
}

function runAll(kit: Kit, cases: number): Tally {
  const tally = startTally()
  const failures: string[] = []
  for (let number = 0; number < cases && failures.length < 3; number++) {
    const outcome = runCase(kit, SEED, number, tally)
    if (outcome.failed) failures.push(outcome.report())
  }
  if (failures.length > 0) assert.fail(`\n${failures.join('\n\n')}\n`)
  if (cases >= ENOUGH)
    for (const mutation of kit.mutations)
      assert.ok(tally.applied.has(mutation), `${mutation.kind} ${mutation.name} was never applied`)
  return tally
}

function runOne(kit: Kit, number: number): void {
  const outcome = runCase(kit, SEED, number, startTally(), true)
  if (outcome.failed) assert.fail(`\n${outcome.report()}\n`)
  console.log(outcome.report())
}

/** If the plan had been another, the same bytes must be found wrong. */
function canFail(kit: Kit): void {
  let noticed = 0
  for (let number = 0; number < 40; number++) {
    const random = startRandom(number)
    const plan = makePlan(random)
    const stream = kit.make(plan, random)
    const [first, ...rest] = plan.calls
    if (!first) continue
    const other = { ...stream, plan: { ...plan, calls: [{ ...first, input: { other: true } }, ...rest] } }
    assert.equal(check(kit, stream, random).problems.length, 0)
    if (check(kit, other, random).problems.length > 0) noticed++
    else assert.fail('a call with other arguments was not noticed')
  }
  assert.ok(noticed > 20)
}

function summary(kit: Kit, { cases, whole, applied }: Tally): string {
  const kinds = new Map<string, number>()
  for (const [{ kind }, count] of applied) kinds.set(kind, (kinds.get(kind) ?? 0) + count)
  const counts = [...kinds].map(([kind, count]) => `${kind} ${count}`).join(', ')
  const share = Math.round((whole / cases) * 100)
  return `${kit.wire.id}, seed ${SEED}: ${cases} streams (${counts}); in ${share} % all calls still ran`
}
