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
export type RetryHintFormat = (typeof RETRY_HINT_FORMATS)[number]

export const RETRY_HINT_FORMATS = [
  'seconds',
  'milliseconds',
  'date',
  'past',
  'reset',
  'details',
  'prose',
  'none',
] as const

/** How models write calls as text. */
export type TextCallDialectName = (typeof TEXT_CALL_DIALECTS)[number]

export const TEXT_CALL_DIALECTS = [
  'hermes',
  'coder',
  'kimi',
  'deepseek',
  'minimax',
  'mistral',
  'glm',
  'invoke',
] as const

/** Valid but unusual ways to frame the same events. */
export type FramingStyle = (typeof FRAMING_STYLES)[number]

export const FRAMING_STYLES = [
  'crlf',
  'cr',
  'mixed',
  'bom',
  'no-space',
  'two-spaces',
  'multi-line',
  'comments',
  'fields',
  'no-last-blank',
  'ndjson',
] as const

/** What an error inside of a stream says. */
export type StreamErrorKind = (typeof STREAM_ERROR_KINDS)[number]

export const STREAM_ERROR_KINDS = ['overloaded', 'rate', 'server', 'invalid'] as const

const CHAT_ONLY: readonly WireId[] = ['openai-chat']
/** Calls of Code Assist have no ids. */
const WIRES_WITH_CALL_IDS: readonly WireId[] = [
  'openai-chat',
  'openai-responses',
  'anthropic',
  'gemini',
  'interactions',
]
const WIRES_WITH_INDEXES: readonly WireId[] = ['openai-chat', 'openai-responses', 'anthropic', 'interactions']

/** Where a misbehaviour acts: see `planResponse`. */
export type MisbehaviourStage = 'response' | 'replacement' | 'frames' | 'call-frames' | 'delivery' | 'plan'

interface MisbehaviourTraits {
  readonly stage: MisbehaviourStage
  readonly about: string
  /** The wires on which it means something; all, if absent. Gemini sends calls whole, and only chat splits names. */
  readonly wires?: readonly WireId[]
}

/** Those without settings. */
export const SIMPLE_MISBEHAVIOURS = {
  'index-missing': { stage: 'call-frames', about: 'Calls have no index.', wires: WIRES_WITH_INDEXES },
  'index-zero': { stage: 'call-frames', about: 'All calls have the index 0.', wires: CHAT_ONLY },
  'index-sparse': {
    stage: 'call-frames',
    about: 'The indexes of calls start at 1 or later, and have gaps.',
    wires: WIRES_WITH_INDEXES,
  },
  'ids-missing': { stage: 'response', about: 'Calls have no id.', wires: WIRES_WITH_CALL_IDS },
  'ids-empty': { stage: 'response', about: 'The ids of calls are empty.', wires: WIRES_WITH_CALL_IDS },
  'ids-same': { stage: 'response', about: 'All calls have the same id.', wires: WIRES_WITH_CALL_IDS },
  'ids-rotating': {
    stage: 'call-frames',
    about: 'Each fragment of a call has another id.',
    wires: ['openai-chat', 'openai-responses'],
  },
  'name-split': { stage: 'call-frames', about: 'The name of a call comes in two pieces.', wires: CHAT_ONLY },
  'name-repeated': { stage: 'call-frames', about: 'Each fragment of a call has its name.', wires: CHAT_ONLY },
  'name-late': { stage: 'call-frames', about: 'The name of a call comes with its last fragment.', wires: CHAT_ONLY },
  'arguments-cumulative': {
    stage: 'call-frames',
    about: 'Each fragment repeats the arguments so far.',
    wires: WIRES_WITH_INDEXES,
  },
  'arguments-object': { stage: 'response', about: 'The arguments are an object, not text.', wires: WIRES_WITH_INDEXES },
  'arguments-doubled': { stage: 'response', about: 'The arguments are encoded as JSON twice.' },
  'arguments-repeated': {
    stage: 'call-frames',
    about: 'All arguments of a call come again after their last fragment.',
    wires: CHAT_ONLY,
  },
  interleaved: { stage: 'call-frames', about: 'The fragments of the calls alternate.', wires: WIRES_WITH_INDEXES },
  'ghost-call': {
    stage: 'call-frames',
    about: 'There is an additional, empty call.',
    wires: ['openai-chat', 'gemini', 'code-assist'],
  },
  'malformed-call': { stage: 'response', about: 'The arguments are not JSON; Gemini reports a malformed call.' },
  'rejected-call': {
    stage: 'replacement',
    about: 'The server rejects the call of its own model with the status 400.',
    wires: CHAT_ONLY,
  },
  'finish-missing': { stage: 'frames', about: 'The response has no finish reason.' },
  'finish-repeated': { stage: 'frames', about: 'The end of the response comes twice.' },
  'no-done': { stage: 'frames', about: 'The last event, `[DONE]`, is missing.', wires: CHAT_ONLY },
  empty: { stage: 'response', about: 'The response has no content.' },
  filter: { stage: 'response', about: 'The response was stopped by a content filter.' },
  'think-in-text': { stage: 'response', about: 'The reasoning is in the text, as `<think>`.' },
  'unknown-events': { stage: 'frames', about: 'There are events and fields that nobody knows.' },
  spliced: { stage: 'frames', about: 'A second response starts inside of the first one.', wires: ['anthropic'] },
  'usage-hostile': { stage: 'frames', about: 'The token counts are negative, text, null or huge.' },
  whole: { stage: 'plan', about: 'The response is one JSON body, although a stream was requested.' },
} as const satisfies Record<string, MisbehaviourTraits>

export const MISBEHAVIOURS = {
  ...SIMPLE_MISBEHAVIOURS,
  cut: {
    stage: 'delivery',
    about: 'The stream ends at `at` (default: `arguments`), in the way `how` (default: `close`).',
  },
  stall: {
    stage: 'delivery',
    about:
      'Nothing comes for `ms` milliseconds at `at` (default: `first-event`); without `ms`, until the client disconnects.',
  },
  drip: {
    stage: 'delivery',
    about: 'Only keep-alives come at `at`, one in `every` milliseconds, for `ms` milliseconds.',
  },
  trickle: {
    stage: 'delivery',
    about: 'The response comes `bytes` bytes at a time, one piece in `every` milliseconds.',
  },
  framing: { stage: 'plan', about: 'The events are framed in the `style`, which is valid but unusual.' },
  status: {
    stage: 'replacement',
    about:
      'The response is an error with this `status`. `hint` and `wait` say how long to wait, `body`, `code` and `message` what it contains.',
  },
  html: { stage: 'replacement', about: 'The response is a web page, with the `status` 200 or another one.' },
  'half-json': { stage: 'replacement', about: 'The response is half of a JSON body.' },
  redirect: {
    stage: 'replacement',
    about: 'The response is a redirect to `location`, with the `status` 307 or another one.',
  },
  'content-type': { stage: 'delivery', about: 'The content type is `value`.' },
  corrupt: { stage: 'frames', about: 'The event at `at` is cut off (default: `arguments`).' },
  error: { stage: 'frames', about: 'The stream ends at `at` with an error: `trouble`.' },
  'text-call': { stage: 'response', about: 'Calls are written as text, in the `dialect`.' },
  length: {
    stage: 'response',
    about:
      'The response is cut off in the last arguments, because it is too long; with `lie`, the finish reason does not say so.',
  },
  'finish-wrong': { stage: 'response', about: 'The finish reason is `word`, or does not fit the content.' },
} as const satisfies Record<MisbehaviourKind, MisbehaviourTraits>

/** The misbehaviours without settings: in a script, their names are enough. */
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

/** Something that a server or a model does wrong. */
export type Misbehaviour = ConfigurableMisbehaviour & {
  /** For so many attempts at the same step, after the first `skip`; without it, always. */
  readonly times?: number
  readonly skip?: number
}

/** The name of a misbehaviour. */
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
