import type { WireId } from '../model/turn.ts'

/**
 * A place in a stream: a number of events, or a landmark. `thinking`, `text` and `arguments` are the middle of these;
 * `frame` is the middle of an event, and `delimiter` lies between the two line ends after one.
 */
export type Place =
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
export type Hint = 'seconds' | 'milliseconds' | 'date' | 'past' | 'reset' | 'details' | 'prose' | 'none'

/** How calls look that a model writes instead of making them. */
export type WrittenDialect = 'hermes' | 'coder' | 'kimi' | 'deepseek' | 'minimax' | 'mistral' | 'glm' | 'invoke'

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
export type Trouble = 'overloaded' | 'rate' | 'server' | 'invalid'

/** Misbehaviours that have nothing to set. */
export type SimpleKind = (typeof SIMPLE_KINDS)[number]

/** The names of the misbehaviours that have nothing to set. */
export const SIMPLE_KINDS = [
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
type SetKind =
  | { readonly kind: 'cut'; readonly at?: Place; readonly how?: 'close' | 'reset' | 'end' }
  /** Without `ms` the silence lasts until the client hangs up. */
  | { readonly kind: 'stall'; readonly at?: Place; readonly ms?: number }
  /** Comments and nothing else, one `every` so many milliseconds. */
  | { readonly kind: 'drip'; readonly at?: Place; readonly every?: number; readonly ms?: number }
  /** So many bytes at a time. */
  | { readonly kind: 'trickle'; readonly bytes?: number; readonly every?: number }
  | { readonly kind: 'framing'; readonly style: FramingStyle }
  | {
      readonly kind: 'status'
      readonly status: number
      readonly hint?: Hint
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
  | { readonly kind: 'corrupt'; readonly at?: Place }
  | { readonly kind: 'error'; readonly at?: Place; readonly trouble?: Trouble }
  | { readonly kind: 'text-call'; readonly dialect?: WrittenDialect }
  /** Cut off inside the last arguments; `lie` says that all was well. */
  | { readonly kind: 'length'; readonly lie?: boolean }
  | { readonly kind: 'finish-wrong'; readonly word?: string }
  | { readonly kind: SimpleKind }

/** One thing that goes wrong with an answer. */
export type Misbehaviour = SetKind & {
  /** Only on so many attempts at the same step, after the first `skip`; without it, always. */
  readonly times?: number
  readonly skip?: number
}

/** The names of all misbehaviours. */
export type Kind = Misbehaviour['kind']

/** A misbehaviour of one kind. */
export type Of<K extends Kind> = Extract<Misbehaviour, { readonly kind: K }>

/** The wires on which a misbehaviour means something; elsewhere it changes nothing. */
export function wiresOf(kind: Kind): readonly WireId[] {
  return ONLY[kind] ?? ALL
}

/** All misbehaviours that are on in this attempt, counted from 0. */
export function active(given: readonly (Misbehaviour | SimpleKind)[], wire: WireId, attempt: number): Misbehaviour[] {
  return given
    .map((one): Misbehaviour => (typeof one === 'string' ? { kind: one } : one))
    .filter(({ kind, skip = 0, times = Infinity }) => {
      return wiresOf(kind).includes(wire) && attempt >= skip && attempt < skip + times
    })
}

const ALL: readonly WireId[] = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'code-assist']
const CHAT: readonly WireId[] = ['openai-chat']
/** Code Assist's calls have no ids to begin with. */
const NAMED: readonly WireId[] = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
const NUMBERED: readonly WireId[] = ['openai-chat', 'openai-responses', 'anthropic']

/** Gemini sends calls whole, so what is odd about their pieces has no meaning there; and only chat has names in pieces. */
const ONLY: Readonly<Partial<Record<Kind, readonly WireId[]>>> = {
  'index-missing': NUMBERED,
  'index-zero': CHAT,
  'index-sparse': NUMBERED,
  'ids-missing': NAMED,
  'ids-empty': NAMED,
  'ids-same': NAMED,
  'ids-rotating': ['openai-chat', 'openai-responses'],
  'name-split': CHAT,
  'name-repeated': CHAT,
  'name-late': CHAT,
  'arguments-cumulative': NUMBERED,
  'arguments-object': NUMBERED,
  'arguments-repeated': CHAT,
  interleaved: NUMBERED,
  'ghost-call': ['openai-chat', 'gemini', 'code-assist'],
  'rejected-call': CHAT,
  'no-done': CHAT,
  spliced: ['anthropic'],
}
