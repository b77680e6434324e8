import type { ResultPart, Turn } from '../model/turn.ts'
import type { Entry } from './entry.ts'

/** The history that a model is told, out of a log: what is never summarised, then from the last summary on. */
export function project(entries: readonly Entry[]): Turn[] {
  const compact = entries.findLast((entry) => entry.kind === 'compact')
  const turns: Turn[] = []
  if (compact?.kind === 'compact') {
    const before = entries.filter((entry) => entry.seq < compact.seq)
    for (const { text } of pinnedNotes(before)) turns.push({ role: 'note', text })
    turns.push({ role: 'user', parts: [{ kind: 'text', text: compact.summary }] })
    for (const entry of before) if (entry.seq >= compact.keep && !isPinned(entry)) addEntry(turns, uncounted(entry))
  }
  for (const entry of entries) if (!compact || entry.seq > compact.seq) addEntry(turns, entry)
  return turns
}

/** The last note of each topic, in the order of the topics: what stays whatever is summarised. */
export function pinnedNotes(entries: readonly Entry[]): (Entry & { kind: 'note' })[] {
  const last = new Map<string, Entry & { kind: 'note' }>()
  for (const entry of entries) if (isPinned(entry)) last.set(entry.topic, entry)
  return [...last.values()]
}

/** Is it a note that is never summarised? */
export function isPinned(entry: Entry): entry is Entry & { kind: 'note'; topic: string } {
  return entry.kind === 'note' && entry.topic !== undefined
}

/** The vendor counted the tokens of the history as it was before the summary: that count says nothing any more. */
function uncounted(entry: Entry): Entry {
  if (entry.kind !== 'turn' || !entry.turn.usage) return entry
  const { usage: _unused, ...turn } = entry.turn
  return { ...entry, turn }
}

/** Adds what one entry says to a history; results that follow each other make one turn. */
export function addEntry(turns: Turn[], entry: Entry): void {
  if (entry.kind === 'user') turns.push({ role: 'user', parts: entry.parts })
  else if (entry.kind === 'note') turns.push({ role: 'note', text: entry.text })
  else if (entry.kind === 'turn') turns.push(entry.turn)
  else if (entry.kind === 'result') addResult(turns, entry.result)
}

function addResult(turns: Turn[], result: ResultPart): void {
  const last = turns.at(-1)
  if (last?.role === 'results') turns[turns.length - 1] = { role: 'results', parts: [...last.parts, result] }
  else turns.push({ role: 'results', parts: [result] })
}
