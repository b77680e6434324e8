import { check, type Verdict } from './mutate-check.ts'
import { makePlan } from './mutate-plan.ts'
import { type Random, startRandom } from './mutate-random.ts'
import { copyStream, type Keeps, type Kit, type Mutation, type Stream } from './mutate-stream.ts'

/** What a run of many cases showed. */
export interface Tally {
  cases: number
  /** Cases in which every call of the clean stream still ran. */
  whole: number
  /** How often each mutation was applied. */
  readonly applied: Map<Mutation, number>
}

/** What became of a case, in words that let one do it again. */
export interface Outcome {
  readonly failed: boolean
  report(): string
}

/** As many mutants are made of one clean stream; the clean stream itself is checked with the first of them. */
const MUTANTS = 4

/** Runs one case: the clean stream first, then a mutant of it. The case is made of the seed and its number alone. */
export function runCase(kit: Kit, seed: number, number: number, tally: Tally, alone = false): Outcome {
  const { clean, first } = makeClean(kit, seed, number)
  if (alone || first) {
    const verdict = attempt(kit, copyStream(clean), startRandom(seed, number, 1))
    if (verdict.problems.length > 0) return outcome({ kit, seed, number, stream: clean, applied: [], verdict })
  }
  const random = startRandom(seed, number, 2)
  const stream = copyStream(clean)
  const applied = mutate(kit, stream, random)
  const verdict = attempt(kit, stream, random, keepsOf(applied))
  tally.cases++
  if (verdict.whole) tally.whole++
  for (const mutation of applied) tally.applied.set(mutation, (tally.applied.get(mutation) ?? 0) + 1)
  return outcome({ kit, seed, number, stream, applied, verdict })
}

/** Starts to count. */
export function startTally(): Tally {
  return { cases: 0, whole: 0, applied: new Map() }
}

const cleans = new Map<Kit, { readonly key: string; readonly stream: Stream }>()

/** Neighbouring cases share their clean stream; `first` tells that it was made for this one. */
function makeClean(kit: Kit, seed: number, number: number): { clean: Stream; first: boolean } {
  const group = Math.floor(number / MUTANTS)
  const key = `${seed} ${group}`
  const known = cleans.get(kit)
  if (known?.key === key) return { clean: known.stream, first: false }
  const random = startRandom(seed, group, 0)
  const stream = kit.make(makePlan(random), random)
  cleans.set(kit, { key, stream })
  return { clean: stream, first: true }
}

/** Applies one mutation up to four. */
function mutate(kit: Kit, stream: Stream, random: Random): Mutation[] {
  const applied: Mutation[] = []
  const wanted = random.pick([1, 1, 2, 2, 3, 4])
  for (let tries = 0; tries < 40 && applied.length < wanted && !stream.sealed; tries++) {
    const mutation = random.pick(kit.mutations)
    if (applied.includes(mutation) || !mutation.apply(stream, random)) continue
    stream.fresh = false
    applied.push(mutation)
  }
  return applied
}

/** Alone, a mutation must do no more harm than it says; several together may. */
function keepsOf(applied: readonly Mutation[]): Keeps {
  const [first] = applied
  if (first && applied.length === 1) return first.keeps
  if (applied.some(({ keeps }) => keeps === 'nothing')) return 'nothing'
  return applied.some(({ keeps }) => keeps === 'names') ? 'names' : 'all'
}

/** An exception is a failure like any other. */
function attempt(kit: Kit, stream: Stream, random: Random, keeps?: Keeps): Verdict {
  try {
    return check(kit, stream, random, keeps)
  } catch (error) {
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { problems: [`threw ${said}`], whole: false, ran: [], rejected: [], finish: '' }
  }
}

interface Case {
  readonly kit: Kit
  readonly seed: number
  readonly number: number
  readonly stream: Stream
  readonly applied: readonly Mutation[]
  readonly verdict: Verdict
}

function outcome(one: Case): Outcome {
  return { failed: one.verdict.problems.length > 0, report: () => describe(one) }
}

function describe({ kit, seed, number, stream, applied, verdict }: Case): string {
  const { plan, events, framing } = stream
  const frames = events.map((one) => {
    const name = one.name === undefined ? '' : `[${one.name}] `
    const data = typeof one.data === 'string' ? one.data : JSON.stringify(one.data)
    return `  ${one.role}${one.end ? ' (end)' : ''} ${name}${data}`
  })
  const cut = stream.cut === undefined ? '' : `, cut after ${(stream.cut * 100).toFixed(1)} % of its bytes`
  return [
    `case ${number} on ${kit.wire.id}: DRAGOMAN_SEED=${seed} DRAGOMAN_CASE=${kit.wire.id}:${number} npm test -- mutation`,
    `mutations: ${applied.map(({ kind, name }) => `${kind} ${name}`).join(', ') || 'none, this is the clean stream'}`,
    ...verdict.problems.map((problem) => `problem: ${problem}`),
    `tools: ${plan.tools.map((tool) => `${tool.name} ${JSON.stringify(tool.schema)}`).join('; ')}`,
    `stream (${framing}${cut}):`,
    ...frames,
    `expected, at most: ${plan.calls.map((call) => `${call.name} ${JSON.stringify(call.input)}`).join('; ') || 'none'}`,
    `ran: ${verdict.ran.join('; ') || 'none'}`,
    `rejected: ${verdict.rejected.join('; ') || 'none'}`,
    `finish: ${verdict.finish}`,
  ].join('\n')
}
