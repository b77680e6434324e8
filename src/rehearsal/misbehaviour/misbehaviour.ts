import type { WireId } from '../../model/turn.ts'

/**
 * A place in a stream: a number of events, or a landmark. `thinking`, `text` and `arguments` are the middle of these;
 * `frame` is the middle of an event, and `delimiter` lies between the two line ends after one.
 */
export type StreamPosition =
  | number
  | 'start'
  | 'first-event'
  | 'thinking'
  | 'text'
  | 'arguments'
  | 'after-call'
  | 'before-end'
  | 'frame'
  | 'delimiter'

/** How a server says how long to wait. */
export type RetryHint = 'seconds' | 'milliseconds' | 'date' | 'past' | 'reset' | 'details' | 'prose' | 'none'

/** How calls look that a model writes instead of making them. */
export type TextCallDialect = 'hermes' | 'coder' | 'kimi' | 'deepseek' | 'minimax' | 'mistral' | 'glm' | 'invoke'

/** Legal and odd ways to frame the same events. */
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

/** What kind of trouble an error that comes inside a stream tells of. */
export type StreamErrorKind = 'overloaded' | 'rate' | 'server' | 'invalid'

/** Misbehaviours that have nothing to set. */
export type SimpleMisbehaviourKind = (typeof SIMPLE_MISBEHAVIOUR_KINDS)[number]

/** The names of the misbehaviours that have nothing to set. */
export const SIMPLE_MISBEHAVIOUR_KINDS = [
  'index-missing',
  'index-zero',
  'index-sparse',
  'ids-missing',
  'ids-empty',
  'ids-same',
  'ids-rotating',
  'name-split',
  'name-repeated',
  'name-late',
  'arguments-cumulative',
  'arguments-object',
  'arguments-doubled',
  'arguments-repeated',
  'interleaved',
  'ghost-call',
  'malformed-call',
  'rejected-call',
  'finish-missing',
  'finish-repeated',
  'no-done',
  'empty',
  'filter',
  'think-in-text',
  'unknown-events',
  'spliced',
  'usage-hostile',
  'whole',
] as const

/** Misbehaviours that have something to set; where it is left out, the first or the plainest is meant. */
type ConfigurableMisbehaviour =
  | { readonly kind: 'cut'; readonly at?: StreamPosition; readonly how?: 'close' | 'reset' | 'end' }
  /** Without `ms` the silence lasts until the client hangs up. */
  | { readonly kind: 'stall'; readonly at?: StreamPosition; readonly ms?: number }
  /** Comments and nothing else, one `every` so many milliseconds. */
  | { readonly kind: 'drip'; readonly at?: StreamPosition; readonly every?: number; readonly ms?: number }
  /** So many bytes at a time. */
  | { readonly kind: 'trickle'; readonly bytes?: number; readonly every?: number }
  | { readonly kind: 'framing'; readonly style: FramingStyle }
  | {
      readonly kind: 'status'
      readonly status: number
      readonly hint?: RetryHint
      /** Milliseconds that the hint asks to wait. */
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
  | { readonly kind: 'text-call'; readonly dialect?: TextCallDialect }
  /** Cut off inside the last arguments; `lie` says that all was well. */
  | { readonly kind: 'length'; readonly lie?: boolean }
  | { readonly kind: 'finish-wrong'; readonly word?: string }
  | { readonly kind: SimpleMisbehaviourKind }

/** One thing that goes wrong with an answer. */
export type Misbehaviour = ConfigurableMisbehaviour & {
  /** Only on so many attempts at the same step, after the first `skip`; without it, always. */
  readonly times?: number
  readonly skip?: number
}

/** The names of all misbehaviours. */
export type MisbehaviourKind = Misbehaviour['kind']

/** A misbehaviour of one kind. */
export type MisbehaviourOfKind<K extends MisbehaviourKind> = Extract<Misbehaviour, { readonly kind: K }>

/** The wires on which a misbehaviour means something; elsewhere it changes nothing. */
export function getAffectedWires(kind: MisbehaviourKind): readonly WireId[] {
  return WIRES_BY_KIND[kind] ?? ALL_WIRES
}

/** All misbehaviours that are on in this attempt, counted from 0. */
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

const ALL_WIRES: readonly WireId[] = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'code-assist']
const CHAT_ONLY: readonly WireId[] = ['openai-chat']
/** Code Assist's calls have no ids to begin with. */
const WIRES_WITH_CALL_IDS: readonly WireId[] = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
const WIRES_WITH_INDEXES: readonly WireId[] = ['openai-chat', 'openai-responses', 'anthropic']

/** Gemini sends calls whole, so what is odd about their pieces has no meaning there; and only chat has names in pieces. */
const WIRES_BY_KIND: Readonly<Partial<Record<MisbehaviourKind, readonly WireId[]>>> = {
  'index-missing': WIRES_WITH_INDEXES,
  'index-zero': CHAT_ONLY,
  'index-sparse': WIRES_WITH_INDEXES,
  'ids-missing': WIRES_WITH_CALL_IDS,
  'ids-empty': WIRES_WITH_CALL_IDS,
  'ids-same': WIRES_WITH_CALL_IDS,
  'ids-rotating': ['openai-chat', 'openai-responses'],
  'name-split': CHAT_ONLY,
  'name-repeated': CHAT_ONLY,
  'name-late': CHAT_ONLY,
  'arguments-cumulative': WIRES_WITH_INDEXES,
  'arguments-object': WIRES_WITH_INDEXES,
  'arguments-repeated': CHAT_ONLY,
  interleaved: WIRES_WITH_INDEXES,
  'ghost-call': ['openai-chat', 'gemini', 'code-assist'],
  'rejected-call': CHAT_ONLY,
  'no-done': CHAT_ONLY,
  spliced: ['anthropic'],
}
