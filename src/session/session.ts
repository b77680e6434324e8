import type { CallPart, Turn } from '../model/turn.ts'
import type { Entry, EntryBody } from './log/entry.ts'
import { appendEntryToHistory, deriveModelHistory } from './derive-model-history.ts'
import { createInterruptedResult, type OpenCall, findOpenCalls } from './open-calls.ts'
import type { SessionLog } from './store/store.ts'

/** An open session: its log, and the history that is projected from it. */
export interface Session {
  readonly id: string
  readonly folder: string
  /** The history for the model. It only grows, until a compaction replaces it. */
  readonly turns: readonly Turn[]
  readonly entries: readonly Entry[]
  /** The number of user messages, to number prompts. */
  readonly promptCount: number
  /** Calls of the last turn that have no result. Between runs, none of them has started. */
  readonly pendingCalls: readonly OpenCall[]
  /** The answer to the last question about a call, perhaps of another process. */
  findReply(call: string): (Entry & { kind: 'reply' }) | undefined
  /** The entry survives the process when this returns, and the machine soon after. */
  append(body: EntryBody): Entry
  /** Aborted when another process has the session, or may have it. The reason is a `StoreError`. */
  readonly lost: AbortSignal
  /** Resolves when all durable entries are on the disk. */
  flush(): Promise<void>
  close(): Promise<void>
}

/**
 * Resumes a session. A call whose tool had started, or may have started, gets the result `interrupted` and never runs again,
 * unless its tool says that it may. Other open calls are pending: they can still run.
 */
export function resumeSession(log: SessionLog, options: ResumeOptions = {}): Session {
  const entries = [...log.entries]
  let turns = deriveModelHistory(entries)
  let promptCount = entries.filter((entry) => entry.kind === 'user').length
  const lastSeq = entries.at(-1)?.seq ?? 0
  const uncertainUpTo = Math.min(log.uncertainUpTo ?? 0, lastSeq)

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
      return findOpenCalls({ entries, uncertainUpTo })
    },
    findReply: (call) => findReplyEntry(entries, call),
    append(body) {
      const entry = log.append(body)
      if (entry.kind === 'user') promptCount++
      entries.push(entry)
      if (entry.kind === 'compact') turns = deriveModelHistory(entries)
      else appendEntryToHistory(turns, entry)
      return entry
    },
    lost: log.lost,
    flush: () => log.flush(),
    close: () => log.close(),
  }
  for (const open of session.pendingCalls.filter(({ hasStarted }) => hasStarted))
    if (!(options.isSafeToRetry?.(open.call) && canRetry(open, entries, uncertainUpTo)))
      session.append({ kind: 'result', result: createInterruptedResult(open), ms: 0 })
  return session
}

interface ResumeOptions {
  /** May the tool of this call run again after it was interrupted? */
  readonly isSafeToRetry?: (call: CallPart) => boolean
}

/**
 * Not if entries may be missing, or if the call is one of another session, where it may still run; and not for ever, because it
 * may be what ends the process each time.
 */
function canRetry({ call, hasStarted }: OpenCall, entries: readonly Entry[], uncertainUpTo: number): boolean {
  const turn = entries.findLastIndex((entry) => entry.kind === 'turn')
  const starts = entries.slice(turn).filter((entry) => entry.kind === 'intent' && entry.call === call.id)
  return hasStarted === true && (entries[turn]?.seq ?? 0) > uncertainUpTo && starts.length < MAX_STARTS
}

const MAX_STARTS = 3

function findReplyEntry(entries: readonly Entry[], call: string): (Entry & { kind: 'reply' }) | undefined {
  const ask = entries.filter((entry) => entry.kind === 'ask').findLast((entry) => entry.call === call)
  return ask && entries.filter((entry) => entry.kind === 'reply').findLast((entry) => entry.ask === ask.ask)
}
