import type { Entry, EntryBody } from './log/entry.ts'
import { createInterruptedResult, findOpenCalls } from './open-calls.ts'
import type { SessionLog } from './store/store.ts'
import { defined } from '../model/defined.ts'

/**
 * Imports the conversation of a recording, or of a log of somebody else. Only messages and results are imported, never
 * approvals, answers, intents or file changes. A call without a result does not run here.
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
    case 'settings':
    case 'intent':
    case 'subagent':
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
  return { kind, summary, keep, before, after, ...defined({ ms, usage }) }
}

/** The new number of the first entry that a summary keeps, or the next number if none of them was imported. */
function renumberKeptSeq(seq: number, numbers: ReadonlyMap<number, number>, log: SessionLog): number {
  const first = [...numbers].find(([old]) => old >= seq)?.[1]
  return first ?? Math.max(log.entries.at(-1)?.seq ?? 0, ...numbers.values()) + 1
}
