import type { Entry, EntryBody } from './log/entry.ts'
import { createInterruptedResult, findOpenCalls } from './open-calls.ts'
import type { SessionLog } from './store/store.ts'
import { defined } from '../model/defined.ts'

/**
 * Takes over what was said in a session that came from elsewhere: a recording, or a log that somebody shared. Only words
 * and results are taken, never a decision: no approval, no answer to a question, no intent and no file to put back. A call
 * that has no result there does not run here.
 */
export function importConversation(log: SessionLog, entries: readonly Entry[]): void {
  const imported: Entry[] = []
  const numbers = new Map<number, number>()
  for (const entry of entries) {
    const body = toConversationEntry(entry, (seq) => renumberKeptSeq(seq, numbers, log))
    if (!body) continue
    const appended = log.append(body)
    numbers.set(entry.seq, appended.seq)
    imported.push(appended)
  }
  for (const call of findOpenCalls({ entries: imported, uncertainUpTo: Infinity }))
    log.append({ kind: 'result', result: createInterruptedResult(call), ms: 0 })
}

function toConversationEntry(entry: Entry, renumber: (seq: number) => number): EntryBody | undefined {
  switch (entry.kind) {
    case 'user':
      return { kind: 'user', parts: entry.parts, prompt: entry.prompt, foreign: true }
    case 'note':
      return { kind: 'note', text: entry.text }
    case 'turn':
      return { kind: 'turn', turn: entry.turn, prompt: entry.prompt, ms: entry.ms }
    case 'result':
      return { kind: 'result', result: entry.result, ms: entry.ms }
    case 'compact':
      return renumberCompaction(entry, renumber(entry.keep))
    case 'open':
    case 'intent':
    case 'ask':
    case 'reply':
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

function renumberCompaction(entry: Entry & { kind: 'compact' }, keep: number): EntryBody {
  const { kind, summary, before, after, ms, usage } = entry
  const costs = { ...defined({ ms, usage }) }
  return { kind, summary, keep, before, after, ...costs }
}

/** The number here of the first entry that a summary keeps; all that was imported so far lies before it, if there is none. */
function renumberKeptSeq(seq: number, numbers: ReadonlyMap<number, number>, log: SessionLog): number {
  const first = [...numbers].find(([old]) => old >= seq)?.[1]
  return first ?? Math.max(log.entries.at(-1)?.seq ?? 0, ...numbers.values()) + 1
}
