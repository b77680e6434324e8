import type { Turn } from '../model/turn.ts'
import type { Entry, EntryBody } from './log/entry.ts'
import { appendEntry, projectHistory } from './project-history.ts'
import { createInterruptedResult, type OpenCall, findOpenCalls } from './open-calls.ts'
import type { SessionLog } from './store/store.ts'

/** A session in use: its log, and the history that the log means, kept up to date as entries are added. */
export interface Session {
  readonly id: string
  readonly folder: string
  /** What the model is told; only ever grows, until a summary replaces it. */
  readonly turns: readonly Turn[]
  readonly entries: readonly Entry[]
  /** How many times the person has spoken, to number prompts. */
  readonly promptCount: number
  /** Calls of the last turn that have no result and never began. */
  readonly pendingCalls: readonly OpenCall[]
  /** The answer in the log to the last question about a call. */
  findReply(call: string): (Entry & { kind: 'reply' }) | undefined
  /** It is in the log when this returns, and on the disk soon. */
  append(body: EntryBody): Entry
  /** Resolves when everything that must be on the disk is there; nothing that leans on it may happen before. */
  flush(): Promise<void>
  close(): void
}

/**
 * Takes a session up. A tool that had begun when it was left, or may have, is never run again: its call gets a result now
 * that says so. Calls that had not begun are `pending`: they can still be carried out, or closed.
 */
export function resumeSession(log: SessionLog): Session {
  const entries = [...log.entries]
  let turns = projectHistory(entries)
  let promptCount = entries.filter((entry) => entry.kind === 'user').length
  let pendingCalls: readonly OpenCall[] = []

  const session: Session = {
    id: log.id,
    folder: log.folder,
    get turns() {
      return turns
    },
    entries,
    get promptCount() {
      return promptCount
    },
    get pendingCalls() {
      return pendingCalls
    },
    findReply: (call) => findReplyEntry(entries, call),
    append(body) {
      const entry = log.append(body)
      if (entry.kind === 'user') promptCount++
      if (entry.kind === 'result') pendingCalls = pendingCalls.filter(({ call }) => call.id !== entry.result.id)
      entries.push(entry)
      if (entry.kind === 'compact') turns = projectHistory(entries)
      else appendEntry(turns, entry)
      return entry
    },
    flush: () => log.flush(),
    close: () => log.close(),
  }
  pendingCalls = findOpenCalls(log)
  for (const open of pendingCalls.filter(({ hasStarted }) => hasStarted))
    session.append({ kind: 'result', result: createInterruptedResult(open), ms: 0 })
  return session
}

/** What a person answered to the last question about a call, be it in another process. */
function findReplyEntry(entries: readonly Entry[], call: string): (Entry & { kind: 'reply' }) | undefined {
  const ask = entries.findLast((entry) => entry.kind === 'ask' && entry.call === call)
  if (ask?.kind !== 'ask') return undefined
  const reply = entries.findLast((entry) => entry.kind === 'reply' && entry.ask === ask.ask)
  return reply?.kind === 'reply' ? reply : undefined
}
