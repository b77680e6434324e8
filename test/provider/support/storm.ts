import type { WireId } from '../../../src/model/turn.ts'
import type { RetryHintFormat, Misbehaviour, StreamPosition } from '../../../src/rehearsal/misbehaviour/misbehaviour.ts'
import type { RehearsalScript, ScriptStep } from '../../../src/rehearsal/script/script.ts'
import type { Random } from '../../support/mutate-random.ts'

/**
 * What becomes of a faulty answer: it is asked for again; the model is told and asked again; the run ends, and the
 * person says to go on; or the answer stays in the history, but its calls do not run.
 */
export type Fate = 'retry' | 'nudge' | 'end' | 'spent'

/** A fault, and what must become of it. */
export interface Fault {
  readonly one: Misbehaviour
  readonly fate: Fate
  /** The server says nothing more: time must pass. */
  readonly silent?: true
}

const HINTS: readonly RetryHintFormat[] = [
  'seconds',
  'milliseconds',
  'date',
  'past',
  'reset',
  'details',
  'prose',
  'none',
]
const PLACES: readonly StreamPosition[] = [
  'start',
  'first-event',
  'text',
  'arguments',
  'after-call',
  'before-end',
  'frame',
  'delimiter',
]

/** Every fault that a storm is made of, on a wire. */
export function faultsOn(wire: WireId): readonly Fault[] {
  const retried = (...all: Misbehaviour[]): Fault[] => all.map((one) => ({ one, fate: 'retry' }))
  const google = wire === 'gemini' || wire === 'code-assist'
  return [
    ...retried(
      ...HINTS.flatMap((hint) => [
        { kind: 'status', status: 429, hint, wait: 3200 } as const,
        { kind: 'status', status: 503, hint, wait: 1500 } as const,
      ]),
      ...[408, 409, 500, 502, 503, 504, 529].map((status) => ({ kind: 'status', status }) as const),
      ...(['html', 'text', 'empty'] as const).map((body) => ({ kind: 'status', status: 502, body }) as const),
      ...PLACES.map((at) => ({ kind: 'cut', at, how: 'close' }) as const),
      ...PLACES.map((at) => ({ kind: 'cut', at, how: 'end' }) as const),
      { kind: 'corrupt' },
      { kind: 'corrupt', at: 'text' },
      { kind: 'half-json' },
      { kind: 'finish-missing' },
      ...(['overloaded', 'rate', 'server'] as const).map((trouble) => ({ kind: 'error', trouble }) as const),
      ...(wire === 'anthropic' ? [{ kind: 'spliced' } as const] : []),
    ),
    { one: { kind: 'stall' }, fate: 'retry', silent: true },
    { one: { kind: 'stall', at: 'arguments' }, fate: 'retry', silent: true },
    { one: { kind: 'drip', every: 1 }, fate: 'retry', silent: true },
    { one: { kind: 'redirect' }, fate: 'end' },
    { one: { kind: 'html' }, fate: 'end' },
    { one: { kind: 'status', status: 402 }, fate: 'end' },
    { one: { kind: 'status', status: 429, code: 'insufficient_quota' }, fate: 'end' },
    { one: { kind: 'empty' }, fate: 'nudge' },
    { one: { kind: 'malformed-call' }, fate: google ? 'nudge' : 'spent' },
    ...(wire === 'openai-chat' ? [{ one: { kind: 'rejected-call' }, fate: 'nudge' } as const] : []),
    ...(google ? [] : [{ one: { kind: 'length' }, fate: 'spent' } as const]),
    { one: { kind: 'length', lie: true }, fate: 'spent' },
  ]
}

/** A whole session of faults: for each turn, what goes wrong before it goes right, and which calls it makes. */
export interface Plan {
  readonly turns: readonly { readonly faults: readonly Fault[]; readonly calls: readonly number[] }[]
  /** All answers in the order in which they must come; the good ones are undefined. */
  readonly answers: readonly (Fault | undefined)[]
}

/** Plans a session: no turn has more faults than patience lasts, so that each must come to its end. */
export function planOf(random: Random, faults: readonly Fault[], length: number): Plan {
  let number = 0
  const turns = Array.from({ length }, () => {
    const calls = Array.from({ length: random.range(1, 2) }, () => number++)
    const chosen: Fault[] = []
    const most = random.range(1, 4)
    while (chosen.length < most && chosen.at(-1)?.fate !== 'spent') {
      const fault = random.pick(faults)
      const nudges = chosen.filter(({ fate }) => fate === 'nudge').length
      if (fault.fate === 'nudge' && nudges === 2) continue
      chosen.push(fault)
    }
    return { faults: chosen, calls }
  })
  const answers = turns.flatMap(({ faults: chosen }) =>
    chosen.at(-1)?.fate === 'spent' ? chosen : [...chosen, undefined],
  )
  return { turns, answers: [...answers, undefined] }
}

/** The script that plays a plan; each step checks that the results of the one before have come. */
export function scriptOf({ turns }: Plan): RehearsalScript {
  const steps = turns.map(({ faults, calls }, at): ScriptStep => {
    const before = turns[at - 1]
    const spent = before?.faults.at(-1)?.fate === 'spent'
    return {
      say: 'I count on.',
      call: calls.map((n) => ({
        name: 'count',
        args: { n, why: 'because it was asked for, and for no other reason' },
      })),
      misbehave: faults.map(({ one }, skip) => ({ ...one, skip, times: 1 })),
      ...(before && !spent && { expect: { results: before.calls.map((n) => `counted ${n}.`) } }),
    }
  })
  return { steps, end: { say: 'All done.' } }
}
