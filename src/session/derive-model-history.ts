import { defined } from '../model/defined.ts'
import { formatResultText } from '../model/text.ts'
import type { AssistantTurn, ResultPart, Turn } from '../model/turn.ts'
import type { Entry } from './log/entry.ts'

/** The history for the model: the pinned notes, the last summary, and the entries after it. */
export function deriveModelHistory(entries: readonly Entry[]): Turn[] {
  const compact = entries.findLast((entry) => entry.kind === 'compact')
  const turns: Turn[] = []
  if (compact) {
    const before = entries.filter((entry) => entry.seq < compact.seq)
    for (const { text } of findPinnedNotes(before)) turns.push({ role: 'note', text })
    turns.push({ role: 'user', parts: [{ kind: 'text', text: compact.summary }] })
    for (const entry of before)
      if (entry.seq >= compact.keep && !isPinnedNote(entry)) appendEntryToHistory(turns, withoutUsage(entry))
  }
  for (const entry of entries) if (!compact || entry.seq > compact.seq) appendEntryToHistory(turns, entry)
  return turns
}

/** The number of the first entry that the last compaction kept. */
export function findFirstKeptSeq(entries: readonly Entry[]): number {
  return entries.findLast((entry) => entry.kind === 'compact')?.keep ?? 0
}

/** The last note of each topic, in the order of the topics. No compaction removes them. */
export function findPinnedNotes(entries: readonly Entry[]): (Entry & { kind: 'note' })[] {
  const last = new Map<string, Entry & { kind: 'note' }>()
  for (const entry of entries) if (isPinnedNote(entry)) last.set(entry.topic, entry)
  return [...last.values()]
}

export function isPinnedNote(entry: Entry): entry is Entry & { kind: 'note'; topic: string } {
  return entry.kind === 'note' && entry.topic !== undefined
}

/** The usage counts the tokens of the history before the summary, so it is no longer valid. */
function withoutUsage(entry: Entry): Entry {
  if (entry.kind !== 'turn' || !entry.turn.usage) return entry
  const { usage: _unused, ...turn } = entry.turn
  return { ...entry, turn }
}

/** Adds an entry to a history; consecutive results become one turn. */
export function appendEntryToHistory(turns: Turn[], entry: Entry): void {
  if (entry.kind === 'result') return appendResult(turns, entry.result)
  const turn = entryToTurn(entry)
  if (turn) turns.push(turn)
}

/** The turn of an entry, if the entry is part of the conversation. */
export function entryToTurn(entry: Entry): Turn | undefined {
  switch (entry.kind) {
    case 'user':
      return { role: 'user', parts: entry.parts }
    case 'note':
      // The words about plan mode are our own; other notes may repeat those of tools and servers.
      return {
        role: 'note',
        text: entry.text,
        ...defined({ tools: entry.tools, removedTools: entry.removedTools }),
        ...(entry.plan !== undefined && { trusted: true }),
      }
    case 'turn':
      return entry.turn
    case 'result':
      return { role: 'results', parts: [entry.result] }
    case 'open':
    case 'settings':
    case 'intent':
    case 'subagent':
    case 'ask':
    case 'reply':
    case 'compact':
    case 'request':
    case 'fault':
    case 'change':
    case 'undo':
    case 'close':
      return undefined
    default:
      return entry satisfies never
  }
}

function appendResult(turns: Turn[], result: ResultPart): void {
  const last = turns.at(-1)
  const lastAssistantTurn = turns.findLast((turn) => turn.role === 'assistant')
  if (!lastAssistantTurn || !hasCall(lastAssistantTurn, result.id)) {
    // The call is lost. The model still gets the result, so that it does not repeat the call.
    turns.push({ role: 'note', text: formatOrphanResult(result) })
    return
  }
  // A real result counts more than `interrupted`, which was added when the session was resumed and the result was unreadable.
  const hasResult = (turn: Turn): boolean => turn.role === 'results' && turn.parts.some(({ id }) => id === result.id)
  if (result.status === 'interrupted' && turns.slice(turns.lastIndexOf(lastAssistantTurn)).some(hasResult)) return
  if (last?.role === 'results') turns[turns.length - 1] = { role: 'results', parts: [...last.parts, result] }
  else turns.push({ role: 'results', parts: [result] })
}

function hasCall(turn: AssistantTurn, id: string): boolean {
  if (turn.parts.length > MAX_SEARCHED_PARTS) return getCallIds(turn).has(id)
  return turn.parts.some((part) => part.kind === 'call' && part.id === id)
}

const MAX_SEARCHED_PARTS = 16

/** Cached, because a turn may have thousands of calls, each with a result. */
function getCallIds(turn: AssistantTurn): ReadonlySet<string> {
  const cached = callIdCache.get(turn)
  if (cached) return cached
  const ids = new Set(turn.parts.flatMap((part) => (part.kind === 'call' ? [part.id] : [])))
  callIdCache.set(turn, ids)
  return ids
}

const callIdCache = new WeakMap<AssistantTurn, ReadonlySet<string>>()

function formatOrphanResult(result: ResultPart): string {
  // A note has only text.
  const content = result.content.filter((part) => part.kind === 'text')
  const name = result.name === '' ? 'A tool' : result.name
  return `${name} ran earlier in this session, but its call is missing because the session log was damaged. Status: ${result.status}. Result:\n${formatResultText({ ...result, content })}`
}
