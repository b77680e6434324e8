import type { UserTurn } from '../../model/turn.ts'
import type { Entry, EntryBody } from '../../session/log/entry.ts'
import { type SessionLog, StoreError } from '../../session/store/store.ts'

/** The log of a session while a worker has it, with all entries so far. */
export interface AttachedLog {
  readonly entries: readonly Entry[]
  readonly uncertainUpTo?: number
  append(body: EntryBody): Entry
  flush(): Promise<void>
  /** The log for an agent. Closing it does not close the session. */
  createView(): SessionLog
  /** User entries with these parts get the id of their message, so that it is never added again. */
  nameMessage(parts: UserTurn['parts'], id: string): void
  /**
   * From here on, nothing is written: for the next worker it is as if this process had been killed. So a run that is
   * stopped does not end in the log, and goes on elsewhere.
   */
  detach(): void
}

export function attachLog(log: SessionLog): AttachedLog {
  const entries = [...log.entries]
  const messageIds = new WeakMap<object, string>()
  let isDetached = false

  function append(body: EntryBody): Entry {
    if (isDetached) throw new StoreError('closed', `the session ${log.id} is being handed to another worker`)
    const entry = log.append(withMessageId(body))
    entries.push(entry)
    return entry
  }

  function withMessageId(body: EntryBody): EntryBody {
    if (body.kind !== 'user') return body
    const message = messageIds.get(body.parts[0] ?? {})
    return message === undefined ? body : { ...body, message }
  }

  const flush = (): Promise<void> =>
    isDetached ? Promise.reject(new StoreError('closed', `the session ${log.id} is closed`)) : log.flush()

  return {
    entries,
    ...(log.uncertainUpTo !== undefined && { uncertainUpTo: log.uncertainUpTo }),
    append,
    flush,
    createView: () => ({ ...log, entries: [...entries], append, flush, close: () => Promise.resolve() }),
    nameMessage(parts, id) {
      if (parts[0]) messageIds.set(parts[0], id)
    },
    detach() {
      isDetached = true
    },
  }
}
