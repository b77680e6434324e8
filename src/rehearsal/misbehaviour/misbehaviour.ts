import type { WireId } from '../../model/turn.ts'
import { wireIds } from '../../wire/wires.ts'

/**
 * A position in a stream: a number of events, or a landmark. `thinking`, `text` and `arguments` mean the middle of
 * these, `frame` the middle of an event, and `delimiter` between the two line ends after an event.
 */
export type StreamPosition = number | (typeof STREAM_LANDMARKS)[number]

export const STREAM_LANDMARKS = [
  'start',
  'first-event',
  'thinking',
  'text',
  'arguments',
  'after-call',
  'before-end',
  'frame',
  'delimiter',
] as const

/** How a server says how long to wait. */
export type RetryHintFormat = 'seconds' | 'milliseconds' | 'date' | 'past' | 'reset' | 'details' | 'prose' | 'none'

/** How models write calls as text. */
export type TextCallDialectName = 'hermes' | 'coder' | 'kimi' | 'deepseek' | 'minimax' | 'mistral' | 'glm' | 'invoke'

/** Valid but unusual ways to frame the same events. */
export type FramingStyle =
  | 'crlf'
  | 'cr'
  | 'mixed'
  | 'bom'
  | 'no-space'
  | 'two-spaces'
  | 'multi-line'
  | 'comments'
  | 'fields'
  | 'no-last-blank'
  | 'ndjson'

export type StreamErrorKind = 'overloaded' | 'rate' | 'server' | 'invalid'

const CHAT_ONLY: readonly WireId[] = ['openai-chat']
/** Calls of Code Assist have no ids. */
const WIRES_WITH_CALL_IDS: readonly WireId[] = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
const WIRES_WITH_INDEXES: readonly WireId[] = ['openai-chat', 'openai-responses', 'anthropic']

/** Where a misbehaviour acts: see `planResponse`. */
export type MisbehaviourStage = 'response' | 'replacement' | 'frames' | 'call-frames' | 'delivery' | 'plan'

interface MisbehaviourTraits {
  readonly stage: MisbehaviourStage
  /** The wires on which it means something; all, if absent. Gemini sends calls whole, and only chat splits names. */
  readonly wires?: readonly WireId[]
}

/** Those without settings. */
export const SIMPLE_MISBEHAVIOURS = {
  'index-missing': { stage: 'call-frames', wires: WIRES_WITH_INDEXES },
  'index-zero': { stage: 'call-frames', wires: CHAT_ONLY },
  'index-sparse': { stage: 'call-frames', wires: WIRES_WITH_INDEXES },
  'ids-missing': { stage: 'response', wires: WIRES_WITH_CALL_IDS },
  'ids-empty': { stage: 'response', wires: WIRES_WITH_CALL_IDS },
  'ids-same': { stage: 'response', wires: WIRES_WITH_CALL_IDS },
  'ids-rotating': { stage: 'call-frames', wires: ['openai-chat', 'openai-responses'] },
  'name-split': { stage: 'call-frames', wires: CHAT_ONLY },
  'name-repeated': { stage: 'call-frames', wires: CHAT_ONLY },
  'name-late': { stage: 'call-frames', wires: CHAT_ONLY },
  'arguments-cumulative': { stage: 'call-frames', wires: WIRES_WITH_INDEXES },
  'arguments-object': { stage: 'response', wires: WIRES_WITH_INDEXES },
  'arguments-doubled': { stage: 'response' },
  'arguments-repeated': { stage: 'call-frames', wires: CHAT_ONLY },
  interleaved: { stage: 'call-frames', wires: WIRES_WITH_INDEXES },
  'ghost-call': { stage: 'call-frames', wires: ['openai-chat', 'gemini', 'code-assist'] },
  'malformed-call': { stage: 'response' },
  'rejected-call': { stage: 'replacement', wires: CHAT_ONLY },
  'finish-missing': { stage: 'frames' },
  'finish-repeated': { stage: 'frames' },
  'no-done': { stage: 'frames', wires: CHAT_ONLY },
  empty: { stage: 'response' },
  filter: { stage: 'response' },
  'think-in-text': { stage: 'response' },
  'unknown-events': { stage: 'frames' },
  spliced: { stage: 'frames', wires: ['anthropic'] },
  'usage-hostile': { stage: 'frames' },
  whole: { stage: 'plan' },
} as const satisfies Record<string, MisbehaviourTraits>

export const MISBEHAVIOURS = {
  ...SIMPLE_MISBEHAVIOURS,
  cut: { stage: 'delivery' },
  stall: { stage: 'delivery' },
  drip: { stage: 'delivery' },
  trickle: { stage: 'delivery' },
  framing: { stage: 'plan' },
  status: { stage: 'replacement' },
  html: { stage: 'replacement' },
  'half-json': { stage: 'replacement' },
  redirect: { stage: 'replacement' },
  'content-type': { stage: 'delivery' },
  corrupt: { stage: 'frames' },
  error: { stage: 'frames' },
  'text-call': { stage: 'response' },
  length: { stage: 'response' },
  'finish-wrong': { stage: 'response' },
} as const satisfies Record<MisbehaviourKind, MisbehaviourTraits>

export type SimpleMisbehaviourKind = keyof typeof SIMPLE_MISBEHAVIOURS

/** Settings that are left out have the simplest value. */
type ConfigurableMisbehaviour =
  | { readonly kind: 'cut'; readonly at?: StreamPosition; readonly how?: 'close' | 'reset' | 'end' }
  /** Without `ms`, until the client disconnects. */
  | { readonly kind: 'stall'; readonly at?: StreamPosition; readonly ms?: number }
  /** Only comments, one every `every` milliseconds. */
  | { readonly kind: 'drip'; readonly at?: StreamPosition; readonly every?: number; readonly ms?: number }
  /** `bytes` bytes at a time. */
  | { readonly kind: 'trickle'; readonly bytes?: number; readonly every?: number }
  | { readonly kind: 'framing'; readonly style: FramingStyle }
  | {
      readonly kind: 'status'
      readonly status: number
      readonly hint?: RetryHintFormat
      /** Milliseconds that the hint names. */
      readonly wait?: number
      readonly code?: string
      readonly message?: string
      readonly body?: 'vendor' | 'html' | 'text' | 'empty'
    }
  | { readonly kind: 'html'; readonly status?: number }
  | { readonly kind: 'half-json' }
  | { readonly kind: 'redirect'; readonly status?: number; readonly location?: string }
  | { readonly kind: 'content-type'; readonly value: string }
  | { readonly kind: 'corrupt'; readonly at?: StreamPosition }
  | { readonly kind: 'error'; readonly at?: StreamPosition; readonly trouble?: StreamErrorKind }
  | { readonly kind: 'text-call'; readonly dialect?: TextCallDialectName }
  /** Truncated inside the last arguments; with `lie`, the finish reason is the normal one. */
  | { readonly kind: 'length'; readonly lie?: boolean }
  | { readonly kind: 'finish-wrong'; readonly word?: string }
  | { readonly kind: SimpleMisbehaviourKind }

export type Misbehaviour = ConfigurableMisbehaviour & {
  /** On so many attempts at the same step, after the first `skip`; without it, always. */
  readonly times?: number
  readonly skip?: number
}

export type MisbehaviourKind = Misbehaviour['kind']

export type MisbehaviourOfKind<K extends MisbehaviourKind> = Extract<Misbehaviour, { readonly kind: K }>

/** The misbehaviours of one stage. A new kind has to name its stage, and then does not compile until the stage handles it. */
export type MisbehaviourAt<S extends MisbehaviourStage> =
  | MisbehaviourOfKind<KindAt<S>>
  | { readonly kind: KindAt<S> & SimpleMisbehaviourKind }

type KindAt<S> = {
  [K in MisbehaviourKind]: (typeof MISBEHAVIOURS)[K]['stage'] extends S ? K : never
}[MisbehaviourKind]

export function actsAtStage<S extends MisbehaviourStage>(
  misbehaviour: Misbehaviour,
  stage: S,
): misbehaviour is MisbehaviourAt<S> {
  return MISBEHAVIOURS[misbehaviour.kind].stage === stage
}

/** The wires on which a misbehaviour means something; elsewhere it changes nothing. */
export function getAffectedWires(kind: MisbehaviourKind): readonly WireId[] {
  const { wires = wireIds }: MisbehaviourTraits = MISBEHAVIOURS[kind]
  return wires
}

/** The misbehaviours that are active in this attempt, counted from 0. */
export function selectActiveMisbehaviours(
  misbehaviours: readonly (Misbehaviour | SimpleMisbehaviourKind)[],
  wire: WireId,
  attempt: number,
): Misbehaviour[] {
  return misbehaviours
    .map((misbehaviour): Misbehaviour => (typeof misbehaviour === 'string' ? { kind: misbehaviour } : misbehaviour))
    .filter(({ kind, skip = 0, times = Infinity }) => {
      return getAffectedWires(kind).includes(wire) && attempt >= skip && attempt < skip + times
    })
}
