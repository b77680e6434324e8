import { check, type Verdict } from './mutate-check.ts'
import { makePlan } from './mutate-plan.ts'
import { type Random, startRandom } from './mutate-random.ts'
import { copyStream, type Keeps, type Kit, type Mutation, type Stream } from './mutate-stream.ts'

/** What a run of many cases showed. */
export interface Tally {
  cases: number
  /** Cases in which every call of the clean stream still ran. */
  whole: number
  /** How often each mutation was applied, by kind and name. */
  readonly applied: Map<string, number>
}

/** A failed case, in words that let one do it again. */
export interface Failure {
  readonly number: number
  readonly report: string
}

/** As many mutants are made of one clean stream; the clean stream itself is checked with the first of them. */
const MUTANTS = 4

/** Runs one case: the clean stream first, then a mutant of it. The case is made of the seed and its number alone. */
export function runCase(kit: Kit, seed: number, number: number, tally: Tally, alone = false): Failure | undefined {
  const clean = makeClean(kit, seed, number)
  if (alone || number % MUTANTS === 0) {
    const stream = copyStream(clean)
    if (kit.seal) stream.events.forEach(kit.seal)
    const verdict = attempt(kit, stream, startRandom(seed, number, 1))
    if (verdict.problems.length > 0) return { number, report: describe(kit, seed, number, stream, [], verdict) }
  }
  const random = startRandom(seed, number, 2)
  const stream = copyStream(clean)
  const applied = mutate(kit, stream, random)
  if (kit.seal) stream.events.forEach(kit.seal)
  const verdict = attempt(kit, stream, random, keepsOf(applied))
  tally.cases++
  if (verdict.whole) tally.whole++
  for (const { kind, name } of applied) count(tally, `${kind} ${name}`)
  return verdict.problems.length === 0
    ? undefined
    : { number, report: describe(kit, seed, number, stream, applied, verdict) }
}

/** Starts to count. */
export function startTally(): Tally {
  return { cases: 0, whole: 0, applied: new Map() }
}

const cleans = new Map<string, { readonly key: string; readonly stream: Stream }>()

/** Neighbouring cases share their clean stream. */
function makeClean(kit: Kit, seed: number, number: number): Stream {
  const group = Math.floor(number / MUTANTS)
  const key = `${seed} ${group}`
  const known = cleans.get(kit.wire.id)
  if (known?.key === key) return known.stream
  const random = startRandom(seed, group, 0)
  const stream = kit.make(makePlan(random), random)
  cleans.set(kit.wire.id, { key, stream })
  return stream
}

/** One mutation up to four, of different kinds or of the same. */
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

function keepsOf(applied: readonly Mutation[]): Keeps {
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

function count({ applied }: Tally, name: string): void {
  applied.set(name, (applied.get(name) ?? 0) + 1)
}

function describe(
  kit: Kit,
  seed: number,
  number: number,
  stream: Stream,
  applied: readonly Mutation[],
  verdict: Verdict,
): string {
  const { plan, events } = stream
  const frames = events.map((one) => {
    const name = one.name === undefined ? '' : `[${one.name}] `
    return `  ${one.role}${one.end ? '!' : ''} ${name}${typeof one.data === 'string' ? one.data : JSON.stringify(one.data)}`
  })
  return [
    `case ${number} on ${kit.wire.id}: DRAGOMAN_SEED=${seed} DRAGOMAN_CASE=${number} npm test -- mutation`,
    `mutations: ${applied.map(({ kind, name }) => `${kind} ${name}`).join(', ') || 'none, the clean stream fails'}`,
    ...verdict.problems.map((problem) => `problem: ${problem}`),
    `tools: ${plan.tools.map((tool) => `${tool.name} ${JSON.stringify(tool.schema)}`).join('; ')}`,
    `stream${stream.cut === undefined ? '' : ` (cut after ${Math.round(stream.cut * 100)} % of its bytes)`}:`,
    ...frames,
    `clean calls: ${plan.calls.map((call) => `${call.id} ${call.name} ${JSON.stringify(call.input)}`).join('; ')}`,
    `ran: ${verdict.ran.join('; ') || 'none'}`,
    `rejected: ${verdict.rejected.join('; ') || 'none'}`,
    `finish: ${verdict.finish}`,
  ].join('\n')
}
