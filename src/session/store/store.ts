import type { Entry, EntryBody, ForkPoint } from '../log/entry.ts'
import type { LogDamage } from '../log/scan-log.ts'

/**
 * Where sessions are kept. Everything that waits for a disk or a server is asynchronous; failures reject with a
 * `StoreError`. `storeConformance` has the requirements as test cases.
 */
export interface Store {
  /** Creates a session. A fork holds only the entries after its fork point. */
  create(session: { id: string; folder: string; parent?: ForkPoint }): Promise<SessionLog>
  /**
   * Opens a session for writing, for one process at a time: `in-use` if another has it. With `takeOver`, it is also taken
   * from a holder that may still run, unless that is certain; the former holder can write nothing from then on.
   */
  open(id: string, options?: { readonly takeOver?: boolean }): Promise<SessionLog>
  /** The entries of a session and of what it was forked from, in order, without opening it for writing. */
  read(id: string): Promise<SessionContents>
  /** All sessions, the newest first. */
  list(): Promise<SessionSummary[]>
  /** Removes a session, unless another was forked from it, and the blobs that no entry refers to any more. */
  remove(id: string): Promise<void>
  /** Stores a blob under the hash of its content for as long as an entry refers to it, and returns the hash. */
  putBlob(bytes: Uint8Array): Promise<string>
  /** The blob, unless it is missing or damaged. */
  getBlob(hash: string): Promise<Uint8Array | undefined>
}

/** What is read of a session. */
export interface SessionContents {
  readonly entries: readonly Entry[]
  /** Damage in the session's own file, not in those of its parents. */
  readonly damages: readonly LogDamage[]
  /**
   * Entries that followed up to this number may be lost or be in another log: calls without a result may have run.
   * Absent if nothing is missing.
   */
  readonly uncertainUpTo?: number
}

/** A session that is open for writing. */
export interface SessionLog extends SessionContents {
  readonly id: string
  readonly folder: string
  /** The file system has no locks, so a second process could write too. */
  readonly unlocked?: true
  /**
   * Adds an entry after all others, without waiting. Throws a `StoreError` if it is known that it cannot be saved, and from
   * then on always: later entries would build on a missing one. A store that cannot know that yet reports it at `flush`.
   */
  append(body: EntryBody): Entry
  /**
   * Resolves when all entries that matter after a crash are saved: they then survive this process and its machine. Rejects
   * with a `StoreError` if one of them cannot be saved; `append` throws that error from then on.
   */
  flush(): Promise<void>
  /** Saves what is left, as far as possible, and lets others open the session. Never rejects: call `flush` to be sure. */
  close(): Promise<void>
}

/** A session as a list shows it. */
export interface SessionSummary {
  readonly id: string
  readonly folder: string
  readonly created: number
  readonly changed: number
  /** The first message of the user, on one line. */
  readonly title: string
  /** The number of prompts, and `provider/model` of the last answer; absent where the end of the log does not show it. */
  readonly prompts?: number
  readonly model?: string
  /** `provider/model` of the last request. */
  readonly asked?: string
  /** Its last run did not end: the process was killed, or is still running. */
  readonly unfinished?: true
  readonly parent?: ForkPoint
}

/** The names that every store accepts for sessions: they are also file names. */
export function assertSessionId(id: string): void {
  if (!SESSION_ID_PATTERN.test(id)) throw new StoreError('invalid-id', `“${id}” is not a valid session name`)
}

export const SESSION_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** The version of the log format. The hash of a line was added without a new version: all readers of version 1 allow it. */
export const LOG_VERSION = 1

/** What went wrong with a session. */
export type StoreErrorCode =
  | 'not-found'
  | 'exists'
  | 'invalid-id'
  | 'in-use'
  | 'closed'
  | 'has-forks'
  | 'newer-version'
  | 'unreadable'
  /** Another process took the session over. */
  | 'taken-over'
  /** The log file was moved, removed or replaced while it was open. */
  | 'file-replaced'
  | 'disk-full'
  | 'write-failed'
  /** The server of the store cannot be reached, or refuses. */
  | 'unavailable'

/** A failure of a store. The code decides; the message is for people, without a capital and a full stop. */
export class StoreError extends Error {
  readonly code: StoreErrorCode

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** Did the disk fail, and not the caller? */
  get isDiskError(): boolean {
    return this.code === 'disk-full' || this.code === 'write-failed'
  }
}
