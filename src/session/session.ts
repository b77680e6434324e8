import type { Turn } from '../model/turn.ts'
import type { Entry, EntryBody } from './entry.ts'
import { addEntry, project } from './project.ts'
import { interrupted, type OpenCall, openCalls } from './repair.ts'
import type { SessionLog } from './store/store.ts'

/** A session in use: its log, and the history that the log means, kept up to date as entries are added. */
export interface Session {
  readonly id: string
  readonly folder: string
  /** What the model is told; only ever grows, until a summary replaces it. */
  readonly turns: readonly Turn[]
  readonly entries: readonly Entry[]
  /** How many times the person has spoken, to number prompts. */
  readonly prompts: number
  /** Calls of the last turn that have no result and never began. */
  readonly pending: readonly OpenCall[]
  /** The answer in the log to the last question about a call. */
  reply(call: string): (Entry & { kind: 'reply' }) | undefined
  /** It is in the log when this returns, and on the disk soon. */
  append(body: EntryBody): Entry
  /** Resolves when everything that must be on the disk is there; nothing that leans on it may happen before. */
  saved(): Promise<void>
  close(): void
}

/**
 * Takes a session up. A tool that had begun when it was left, or may have, is never run again: its call gets a result now
 * that says so. Calls that had not begun are `pending`: they can still be carried out, or closed.
 */
export function takeUp(log: SessionLog): Session {
  const entries = [...log.entries]
  let turns = project(entries)
  let prompts = entries.filter((entry) => entry.kind === 'user').length
  let pending: readonly OpenCall[] = []

  const session: Session = {
    id: log.id,
    folder: log.folder,
    get turns() {
      return turns
    },
    entries,
    get prompts() {
      return prompts
    },
    get pending() {
      return pending
    },
    reply: (call) => replyTo(entries, call),
    append(body) {
      const entry = log.append(body)
      if (entry.kind === 'user') prompts++
      if (entry.kind === 'result') pending = pending.filter(({ call }) => call.id !== entry.result.id)
      entries.push(entry)
      if (entry.kind === 'compact') turns = project(entries)
      else addEntry(turns, entry)
      return entry
    },
    saved: () => log.saved(),
    close: () => log.close(),
  }
  pending = openCalls(log)
  for (const open of pending.filter(({ begun }) => begun))
    session.append({ kind: 'result', result: interrupted(open), ms: 0 })
  return session
}

/** What a person answered to the last question about a call, be it in another process. */
function replyTo(entries: readonly Entry[], call: string): (Entry & { kind: 'reply' }) | undefined {
  const ask = entries.findLast((entry) => entry.kind === 'ask' && entry.call === call)
  if (ask?.kind !== 'ask') return undefined
  const reply = entries.findLast((entry) => entry.kind === 'reply' && entry.ask === ask.ask)
  return reply?.kind === 'reply' ? reply : undefined
}
