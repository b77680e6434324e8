import type { ResultPart, Turn } from '../model/turn.ts'
import type { Entry } from './entry.ts'

/** The history that a model is told, out of a log: from the last summary on. */
export function project(entries: readonly Entry[]): Turn[] {
  const compact = entries.findLast((entry) => entry.kind === 'compact')
  const turns: Turn[] = []
  if (compact?.kind === 'compact') {
    turns.push({ role: 'user', parts: [{ kind: 'text', text: compact.summary }] })
    for (const entry of entries) if (entry.seq >= compact.keep && entry.seq < compact.seq) addEntry(turns, entry)
  }
  for (const entry of entries) if (!compact || entry.seq > compact.seq) addEntry(turns, entry)
  return turns
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
