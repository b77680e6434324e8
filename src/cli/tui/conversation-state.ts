import type { CallState } from '../../agent/calls/call-state.ts'
import { isFinishedCall } from '../../agent/calls/schedule.ts'
import type { RunEvent } from '../../agent/loop/run-event.ts'
import type { TurnEvent } from '../../model/event.ts'
import type { UserTurn } from '../../model/turn.ts'
import { describeRetry } from '../output/describe-run.ts'
import { type SubagentActivity, summarizeActivity, updateActivities } from './subagent-activity.ts'
import { type MarkdownText, takeFinalMarkdown } from './view/markdown-stream.ts'

/** A piece of the conversation. Its texts are unescaped; the views make them safe for the terminal. */
export type ConversationBlock =
  | { readonly kind: 'user'; readonly text: string }
  | TextBlock
  | { readonly kind: 'thought'; readonly text: string; readonly done: boolean; readonly ms: number }
  | { readonly kind: 'call'; readonly call: CallState; readonly progress: string; readonly since: number }
  | UserCommandBlock
  /** A passing notice disappears when the next thing happens. */
  | { readonly kind: 'notice'; readonly text: string; readonly tone: 'quiet' | 'warn' | 'bad'; readonly passing?: true }

/** Text of the model, in Markdown. */
export interface TextBlock extends MarkdownText {
  readonly kind: 'text'
  readonly done: boolean
}

/** A shell command that the user ran with `!`, and its output. It has an end once it is over. */
export interface UserCommandBlock {
  readonly kind: 'user-command'
  readonly command: string
  readonly output: string
  readonly since: number
  readonly end?: UserCommandEnd
}

export type UserCommandEnd =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: string }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'not-started'; readonly message: string }

/** What is still shown in the live part: the blocks that may change, and how the parts of the model's turn map to them. */
export interface LiveConversation {
  readonly live: readonly ConversationBlock[]
  /** For each part of the current turn, by its index: the index of its block. */
  readonly parts: Readonly<Record<number, number>>
  /** When the current part began, for the duration of thoughts. */
  readonly since: number
  /** The subagents that work. */
  readonly subagents?: readonly SubagentActivity[]
  readonly waiting?: { readonly host: string; readonly since: number; readonly limit: number }
}

export const EMPTY_LIVE_CONVERSATION: LiveConversation = { live: [], parts: {}, since: 0 }

export function applyRunEvent(conversation: LiveConversation, event: RunEvent, now: number): LiveConversation {
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
      return event.entry.kind === 'user'
        ? addBlock(conversation, { kind: 'user', text: formatUserParts(event.entry.parts) })
        : conversation
    case 'notice':
      return addBlock(conversation, { kind: 'notice', text: event.text, tone: 'quiet' })
    case 'subagent':
      return reduceSubagentEvent(conversation, event)
    case 'compact': {
      const text = describeCompaction(event.beforeTokens, event.afterTokens)
      return event.done ? addBlock(conversation, { kind: 'notice', text, tone: 'quiet' }) : conversation
    }
    case 'run-close':
      // The notice about the last attempt goes: the message about the fault says the same.
      return closeBlocks(event.fault ? { ...conversation, live: conversation.live.filter(isPersistent) } : conversation)
    case 'run-open':
    case 'output':
    case 'ask':
    case 'reply':
    case 'budget':
    case 'handoff':
      return conversation
    default:
      return event satisfies never
  }
}

/** Takes the final blocks off the front: they go to the scrollback and never change again. */
export function takeBlocksForScrollback(conversation: LiveConversation) {
  const firstOpen = conversation.live.findIndex((block) => !isFinalBlock(block))
  const at = firstOpen < 0 ? conversation.live.length : firstOpen
  const final = conversation.live
    .slice(0, at)
    .flatMap((block): readonly ConversationBlock[] => (block.kind === 'text' ? splitText(block) : [block]))
  const live = conversation.live.slice(at)
  const openParts = Object.entries(conversation.parts).filter(([, blockIndex]) => blockIndex >= at)
  const parts = Object.fromEntries(openParts.map(([index, blockIndex]) => [index, blockIndex - at]))
  const [first, ...others] = live
  if (first?.kind !== 'text') return { final, rest: { ...conversation, live, parts } }
  // The complete paragraphs of a text that is still coming in are final, too.
  const pieces = splitText(first)
  const open = pieces.pop() ?? first
  return { final: [...final, ...pieces], rest: { ...conversation, live: [open, ...others], parts } }
}

/** The blocks of a text that are final, and the rest. */
function splitText(block: TextBlock): TextBlock[] {
  const { final, rest } = takeFinalMarkdown(block)
  if (final.length === 0) return [block]
  return [
    ...final.map((piece): TextBlock => ({ kind: 'text', ...piece, done: true })),
    { kind: 'text', ...rest, done: block.done },
  ]
}

function isFinalBlock(block: ConversationBlock): boolean {
  switch (block.kind) {
    case 'text':
    case 'thought':
      return block.done
    case 'call':
      return isFinishedCall(block.call)
    case 'user-command':
      return block.end !== undefined
    case 'user':
    case 'notice':
      return isPersistent(block)
    default:
      return block satisfies never
  }
}

/** Of a subagent that is waited for, the call shows the progress; others are listed below. */
function reduceSubagentEvent(
  conversation: LiveConversation,
  event: Extract<RunEvent, { type: 'subagent' }>,
): LiveConversation {
  const subagents = updateActivities(conversation.subagents ?? [], event)
  if (subagents === conversation.subagents) return conversation
  const activity = subagents.find(({ session }) => session === event.session)
  const isShown = (block: ConversationBlock): boolean => block.kind === 'call' && block.call.call.id === event.call
  const live = conversation.live.map((block) =>
    activity && block.kind === 'call' && isShown(block) ? { ...block, progress: summarizeActivity(activity) } : block,
  )
  const next: LiveConversation = { ...conversation, live, subagents }
  const isBackground = event.event.type === 'run-close' && !conversation.live.some(isShown)
  const text = `${event.name} has ended its work in the background.`
  return isBackground ? addBlock(next, { kind: 'notice', text, tone: 'quiet' }) : next
}

function reduceTurnEvent(before: LiveConversation, event: TurnEvent, now: number): LiveConversation {
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
      return closeBlocks(conversation)
    case 'usage':
    case 'warn':
      return conversation
    default:
      return event satisfies never
  }
}

function openBlock(conversation: LiveConversation, index: number, kind: 'text' | 'reasoning', now: number) {
  const block: ConversationBlock =
    kind === 'text' ? { kind: 'text', text: '', done: false } : { kind: 'thought', text: '', done: false, ms: 0 }
  return {
    ...conversation,
    live: [...conversation.live.map(toPersistent), block],
    parts: { ...conversation.parts, [index]: conversation.live.length },
    since: now,
  }
}

type StreamingBlock = Extract<ConversationBlock, { kind: 'text' | 'thought' }>

function updateBlock(
  conversation: LiveConversation,
  index: number,
  update: (block: StreamingBlock) => StreamingBlock,
): LiveConversation {
  const at = conversation.parts[index]
  const block = at === undefined ? undefined : conversation.live[at]
  if (block?.kind !== 'text' && block?.kind !== 'thought') return conversation
  return { ...conversation, live: conversation.live.with(at ?? 0, update(block)) }
}

/** The response so far is void: its live blocks go, and a notice says so to whoever has read the part in the scrollback. */
function reduceRetry(conversation: LiveConversation, event: Extract<TurnEvent, { type: 'open' }>): LiveConversation {
  const live = conversation.live.filter(isFinalBlock)
  const notice = { kind: 'notice', text: describeRetry(event), tone: 'warn', passing: true } as const
  return { ...conversation, parts: {}, live: [...live, notice] }
}

function reduceCallEvent(conversation: LiveConversation, call: CallState, now: number): LiveConversation {
  const at = conversation.live.findIndex((block) => block.kind === 'call' && block.call.call.id === call.call.id)
  const previous = conversation.live[at]
  const since = call.status === 'executing' ? now : previous?.kind === 'call' ? previous.since : now
  const progress = previous?.kind === 'call' ? previous.progress : ''
  const block: ConversationBlock = { kind: 'call', call, progress, since }
  return at < 0 ? addBlock(conversation, block) : { ...conversation, live: conversation.live.with(at, block) }
}

/** A message of the user. The content of attachments is not shown, only their names. */
function formatUserParts(parts: UserTurn['parts']): string {
  const lines = parts.map((part) => {
    if (part.kind === 'media') return `[${part.name ?? part.mime}, ${formatKilobytes(part.data ?? '')}]`
    return part.name === undefined ? part.text : `[${part.name}]`
  })
  // A resource of an MCP server may have several parts under one name.
  return lines.filter((line, at) => line !== lines[at - 1]).join('\n')
}

function formatKilobytes(base64: string): string {
  return `${Math.max(Math.round((base64.length * 3) / 4 / 1000), 1)} kB`
}

/** Nothing more comes: what was open is final. */
function closeBlocks(conversation: LiveConversation): LiveConversation {
  const close = (block: ConversationBlock): ConversationBlock =>
    block.kind === 'text' || block.kind === 'thought' ? { ...block, done: true } : toPersistent(block)
  const live = conversation.live.map(close).filter((block) => block.kind !== 'text' || block.text.trim() !== '')
  return { ...conversation, live, parts: {} }
}

function isPersistent(block: ConversationBlock): boolean {
  return block.kind !== 'notice' || !block.passing
}

function toPersistent(block: ConversationBlock): ConversationBlock {
  return block.kind === 'notice' ? { kind: 'notice', text: block.text, tone: block.tone } : block
}

export function addBlock(conversation: LiveConversation, block: ConversationBlock): LiveConversation {
  return { ...conversation, live: [...conversation.live, block] }
}

function describeCompaction(beforeTokens: number, afterTokens: number): string {
  const [before, after] = [beforeTokens, afterTokens].map((count) => count.toLocaleString('en'))
  return `The conversation was summarised: about ${before} → ${after} tokens. The full log is kept.`
}
