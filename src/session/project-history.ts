import { formatResultText } from '../model/text.ts'
import type { AssistantTurn, ResultPart, Turn } from '../model/turn.ts'
import type { Entry } from './log/entry.ts'

/** The history that a model is told, out of a log: what is never summarised, then from the last summary on. */
export function projectHistory(entries: readonly Entry[]): Turn[] {
  const compact = entries.findLast((entry) => entry.kind === 'compact')
  const turns: Turn[] = []
  if (compact?.kind === 'compact') {
    const before = entries.filter((entry) => entry.seq < compact.seq)
    for (const { text } of findPinnedNotes(before)) turns.push({ role: 'note', text })
    turns.push({ role: 'user', parts: [{ kind: 'text', text: compact.summary }] })
    for (const entry of before)
      if (entry.seq >= compact.keep && !isPinnedNote(entry)) appendEntry(turns, withoutUsage(entry))
  }
  for (const entry of entries) if (!compact || entry.seq > compact.seq) appendEntry(turns, entry)
  return turns
}

/** The last note of each topic, in the order of the topics: what stays whatever is summarised. */
export function findPinnedNotes(entries: readonly Entry[]): (Entry & { kind: 'note' })[] {
  const last = new Map<string, Entry & { kind: 'note' }>()
  for (const entry of entries) if (isPinnedNote(entry)) last.set(entry.topic, entry)
  return [...last.values()]
}

/** Is it a note that is never summarised? */
export function isPinnedNote(entry: Entry): entry is Entry & { kind: 'note'; topic: string } {
  return entry.kind === 'note' && entry.topic !== undefined
}

/** The vendor counted the tokens of the history as it was before the summary: that count says nothing any more. */
function withoutUsage(entry: Entry): Entry {
  if (entry.kind !== 'turn' || !entry.turn.usage) return entry
  const { usage: _unused, ...turn } = entry.turn
  return { ...entry, turn }
}

/** Adds what one entry says to a history; results that follow each other make one turn. */
export function appendEntry(turns: Turn[], entry: Entry): void {
  if (entry.kind === 'user') turns.push({ role: 'user', parts: entry.parts })
  else if (entry.kind === 'note') turns.push({ role: 'note', text: entry.text })
  else if (entry.kind === 'turn') turns.push(entry.turn)
  else if (entry.kind === 'result') appendResult(turns, entry.result)
}

function appendResult(turns: Turn[], result: ResultPart): void {
  const last = turns.at(-1)
  const lastAssistantTurn = turns.findLast((turn) => turn.role === 'assistant')
  if (!lastAssistantTurn || !getCallIds(lastAssistantTurn).has(result.id)) {
    // The log lost the call. What came of it is told all the same: the model must not do it again for want of knowing.
    turns.push({ role: 'note', text: formatOrphanResult(result) })
    return
  }
  // What really came of a call counts, even if the session was once taken up while that could not be read.
  const hasResult = (turn: Turn): boolean => turn.role === 'results' && turn.parts.some(({ id }) => id === result.id)
  if (result.status === 'interrupted' && turns.slice(turns.lastIndexOf(lastAssistantTurn)).some(hasResult)) return
  if (last?.role === 'results') turns[turns.length - 1] = { role: 'results', parts: [...last.parts, result] }
  else turns.push({ role: 'results', parts: [result] })
}

/** The calls of a turn by their ids. A turn may have thousands, each of which gets a result. */
function getCallIds(turn: AssistantTurn): ReadonlySet<string> {
  let ids = callIdCache.get(turn)
  if (!ids) {
    ids = new Set(turn.parts.flatMap((part) => (part.kind === 'call' ? [part.id] : [])))
    callIdCache.set(turn, ids)
  }
  return ids
}

const callIdCache = new WeakMap<AssistantTurn, ReadonlySet<string>>()

function formatOrphanResult(result: ResultPart): string {
  // A note is only text.
  const content = result.content.filter((part) => part.kind === 'text')
  const name = result.name === '' ? 'A tool' : result.name
  return `${name} ran earlier in this session, but the call is lost, because the log of the session was damaged. Status: ${result.status}. What it gave:\n${formatResultText({ ...result, content })}`
}
