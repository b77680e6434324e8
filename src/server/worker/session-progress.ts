import type { Fault } from '../../model/fault.ts'
import type { Entry } from '../../session/log/entry.ts'
import { findOpenApprovals, findOpenCalls } from '../../session/open-calls.ts'
import type { SessionContents } from '../../session/store/store.ts'

/** How far the work on a session is, as its log shows it. */
export type SessionProgress =
  /** No prompt is open. */
  | 'idle'
  /** The model must be asked, or calls must be run. */
  | 'open'
  /** All that is left are calls that wait for approval. */
  | 'waiting'
  /** The model has answered, but the process ended before that was written. */
  | 'answered'

type Contents = Pick<SessionContents, 'entries' | 'uncertainUpTo'>

export function getProgress(contents: Contents): SessionProgress {
  const { entries } = contents
  const lastPrompt = entries.findLastIndex(({ kind }) => kind === 'user')
  if (lastPrompt < 0 || entries.findLastIndex(({ kind }) => kind === 'close') > lastPrompt) return 'idle'
  const openCalls = findOpenCalls(contents)
  if (openCalls.length > 0) {
    const asked = new Set(findOpenApprovals(contents).map(({ call }) => call))
    return openCalls.every(({ call }) => asked.has(call.id)) ? 'waiting' : 'open'
  }
  const last = entries.slice(lastPrompt).findLast(({ kind }) => CONVERSATION_KINDS.includes(kind))
  return last?.kind === 'turn' && last.turn.finish.reason !== 'aborted' ? 'answered' : 'open'
}

const CONVERSATION_KINDS: readonly Entry['kind'][] = ['user', 'note', 'turn', 'result', 'compact']

/** The ids of the messages that are in the log. */
export function listMessageIds(entries: readonly Entry[]): ReadonlySet<string> {
  return new Set(
    entries.flatMap((entry) => (entry.kind === 'user' && entry.message !== undefined ? [entry.message] : [])),
  )
}

/** The id that the next prompt gets. */
export function createPromptId(session: string, entries: readonly Entry[]): string {
  return `${session}#${entries.filter(({ kind }) => kind === 'user').length + 1}`
}

/** The id of the prompt that a run without a new message works on. */
export function getCurrentPromptId(session: string, entries: readonly Entry[]): string {
  return `${session}#${entries.filter(({ kind }) => kind === 'user').length}`
}

/** The faults of the open prompt since the last answer of the model. */
export function listRecentFaults(entries: readonly Entry[]): readonly (Entry & { kind: 'fault' })[] {
  const since = entries.findLastIndex(({ kind }) => kind === 'user' || kind === 'turn')
  return entries.slice(since + 1).filter((entry) => entry.kind === 'fault')
}

export function toFault(entry: Entry & { kind: 'fault' }): Fault {
  return entry.fault as unknown as Fault
}
