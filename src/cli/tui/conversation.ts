import type { CallState } from '../../agent/calls/call-state.ts'
import type { RunEvent } from '../../agent/loop/run-event.ts'
import type { TurnEvent } from '../../model/event.ts'
import type { UserTurn } from '../../model/turn.ts'
import { finalMarkdownLength } from './view/markdown.ts'

/** A piece of the conversation. Its texts are as they came; the views make them safe for the terminal. */
export type ConversationBlock =
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string; readonly done: boolean }
  | { readonly kind: 'thought'; readonly text: string; readonly done: boolean; readonly ms: number }
  | { readonly kind: 'call'; readonly call: CallState; readonly progress: string; readonly since: number }
  /** A command of the person's own, with what it printed; it has ended when there is an end. */
  | {
      readonly kind: 'own'
      readonly command: string
      readonly output: string
      readonly since: number
      readonly end?: string
    }
  /** One that passes is there until the next thing happens: the next of its kind takes its place. */
  | { readonly kind: 'notice'; readonly text: string; readonly tone: 'quiet' | 'warn' | 'bad'; readonly passing?: true }

/** What is not yet above: the blocks that may still change, and how the parts of the model's turn map to them. */
export interface Conversation {
  readonly live: readonly ConversationBlock[]
  /** The blocks of the parts of the turn that is coming in, by the part's index. */
  readonly parts: Readonly<Record<number, number>>
  /** When the part began, for thoughts. */
  readonly since: number
  /** What is being waited for, and since when. */
  readonly waiting?: { readonly host: string; readonly since: number; readonly limit: number }
}

/** Nothing said yet. */
export const EMPTY_CONVERSATION: Conversation = { live: [], parts: {}, since: 0 }

/** The conversation after an event of the run. */
export function reduceConversation(conversation: Conversation, event: RunEvent, now: number): Conversation {
  switch (event.type) {
    case 'turn':
      return reduceTurnEvent(conversation, event.event, now)
    case 'call':
      return reduceCallEvent(conversation, event.call, now)
    case 'progress':
      return {
        ...conversation,
        live: conversation.live.map((block) =>
          block.kind === 'call' && block.call.call.id === event.call ? { ...block, progress: event.text } : block,
        ),
      }
    case 'entry':
      return event.entry.kind === 'user' ? addUserMessage(conversation, event.entry.parts) : conversation
    case 'notice':
      return addBlock(conversation, { kind: 'notice', text: event.text, tone: 'quiet' })
    case 'compact':
      return event.done
        ? addBlock(conversation, {
            kind: 'notice',
            text: describeCompaction(event.beforeTokens, event.afterTokens),
            tone: 'quiet',
          })
        : conversation
    case 'run-close':
      // What is said now says all that the notice of the last try has said.
      return closeBlocks(event.fault ? { ...conversation, live: conversation.live.filter(isPersistent) } : conversation)
    default:
      return conversation
  }
}

/** Takes what is final off the front: it goes above and never changes again. */
export function takeFinalBlocks(conversation: Conversation): {
  final: readonly ConversationBlock[]
  rest: Conversation
} {
  const final: ConversationBlock[] = []
  let at = 0
  for (; at < conversation.live.length; at++) {
    const block = conversation.live[at]
    if (!block || !isFinalBlock(block)) break
    final.push(block)
  }
  const rest = conversation.live.slice(at)
  const [first] = rest
  const parts = Object.fromEntries(
    Object.entries(conversation.parts).flatMap(([index, blockIndex]) =>
      blockIndex >= at ? [[index, blockIndex - at]] : [],
    ),
  )
  if (first?.kind !== 'text') return { final, rest: { ...conversation, live: rest, parts } }
  // Of a text that still comes in, the paragraphs that are whole.
  const length = finalMarkdownLength(first.text)
  if (length === 0) return { final, rest: { ...conversation, live: rest, parts } }
  const head: ConversationBlock = { ...first, text: first.text.slice(0, length), done: true }
  const tail: ConversationBlock = { kind: 'text', text: first.text.slice(length), done: false }
  return { final: [...final, head], rest: { ...conversation, live: [tail, ...rest.slice(1)], parts } }
}

function isFinalBlock(block: ConversationBlock): boolean {
  if (block.kind === 'text' || block.kind === 'thought') return block.done
  if (block.kind === 'call') return isCallFinished(block.call)
  if (block.kind === 'own') return block.end !== undefined
  return isPersistent(block)
}

/** Has the call its result? */
export function isCallFinished({ status }: CallState): boolean {
  return status === 'success' || status === 'error' || status === 'cancelled'
}

function reduceTurnEvent(before: Conversation, event: TurnEvent, now: number): Conversation {
  const { waiting: _over, ...conversation } = before
  switch (event.type) {
    case 'wait':
      return { ...conversation, waiting: { host: event.host, since: now - event.waited, limit: event.limit } }
    case 'open':
      return event.anew ? reduceRetry(conversation, event) : { ...conversation, parts: {} }
    case 'part-open':
      if (event.kind !== 'text' && event.kind !== 'reasoning') return conversation
      return openBlock(conversation, event.index, event.kind, now)
    case 'part-delta':
      return updateBlock(conversation, event.index, (block) => ({ ...block, text: block.text + event.text }))
    case 'part-close':
      return updateBlock(conversation, event.index, (block) => ({
        ...block,
        done: true,
        ...(block.kind === 'thought' && { ms: now - conversation.since }),
      }))
    case 'finish':
      return { ...closeBlocks(conversation), parts: {} }
    default:
      return conversation
  }
}

function openBlock(conversation: Conversation, index: number, kind: 'text' | 'reasoning', now: number): Conversation {
  const block: ConversationBlock =
    kind === 'text' ? { kind: 'text', text: '', done: false } : { kind: 'thought', text: '', done: false, ms: 0 }
  return {
    live: [...conversation.live.map(toPersistent), block],
    parts: { ...conversation.parts, [index]: conversation.live.length },
    since: now,
  }
}

type StreamingBlock = Extract<ConversationBlock, { kind: 'text' | 'thought' }>

function updateBlock(
  conversation: Conversation,
  index: number,
  update: (block: StreamingBlock) => StreamingBlock,
): Conversation {
  const at = conversation.parts[index]
  const block = at === undefined ? undefined : conversation.live[at]
  if (block?.kind !== 'text' && block?.kind !== 'thought') return conversation
  return { ...conversation, live: conversation.live.with(at ?? 0, update(block)) }
}

/** The answer so far is void: what is still live goes; what is above gets a line that says so. */
function reduceRetry(conversation: Conversation, event: Extract<TurnEvent, { type: 'open' }>): Conversation {
  const live = conversation.live.filter((block) => isFinalBlock(block))
  const seconds = Math.ceil((event.wait ?? 0) / 1000)
  const why = event.fault?.message.replace(/[.\s]*$/, '.') ?? 'The answer broke off.'
  const text = `${why} Asking again${seconds > 0 ? ` in ${seconds} s` : ''}.`
  return { ...conversation, parts: {}, live: [...live, { kind: 'notice', text, tone: 'warn', passing: true }] }
}

function reduceCallEvent(conversation: Conversation, call: CallState, now: number): Conversation {
  const at = conversation.live.findIndex((block) => block.kind === 'call' && block.call.call.id === call.call.id)
  const previous = conversation.live[at]
  const since = call.status === 'executing' ? now : previous?.kind === 'call' ? previous.since : now
  const progress = previous?.kind === 'call' ? previous.progress : ''
  const block: ConversationBlock = { kind: 'call', call, progress, since }
  return at < 0 ? addBlock(conversation, block) : { ...conversation, live: conversation.live.with(at, block) }
}

function addUserMessage(conversation: Conversation, parts: UserTurn['parts']): Conversation {
  const [first, ...more] = parts.map((part, at) => {
    if (part.kind === 'media') return `[${part.name ?? part.mime}, ${formatKilobytes(part.data ?? '')}]`
    // What was attached is named, not shown: the person has it.
    return at === 0 ? part.text : `[${part.text.split('\n', 1)[0]?.replaceAll('-', '').trim() ?? ''}]`
  })
  return addBlock(conversation, { kind: 'user', text: [first ?? '', ...more].join('\n') })
}

function formatKilobytes(base64: string): string {
  return `${Math.max(Math.round((base64.length * 3) / 4 / 1000), 1)} kB`
}

/** Nothing comes any more: what was open is as final as it will be. */
function closeBlocks(conversation: Conversation): Conversation {
  const live = conversation.live
    .map((block) =>
      block.kind === 'text' || block.kind === 'thought' ? { ...block, done: true } : toPersistent(block),
    )
    .filter((block) => !(block.kind === 'text' && block.text.trim() === ''))
  return { ...conversation, live, parts: {} }
}

function isPersistent(block: ConversationBlock): boolean {
  return block.kind !== 'notice' || !block.passing
}

function toPersistent(block: ConversationBlock): ConversationBlock {
  return block.kind === 'notice' ? { kind: 'notice', text: block.text, tone: block.tone } : block
}

function addBlock(conversation: Conversation, block: ConversationBlock): Conversation {
  return { ...conversation, live: [...conversation.live, block] }
}

function describeCompaction(beforeTokens: number, afterTokens: number): string {
  const [before, after] = [beforeTokens, afterTokens].map((count) => count.toLocaleString('en'))
  return `The history was summarised: about ${before} → ${after} tokens. The log keeps everything.`
}
