import type { Entry, EntryBody, ForkPoint } from '../log/entry.ts'
import type { LogDamage } from '../log/scan-log.ts'

/** Where sessions are kept. */
export interface Store {
  /** Creates a session. A fork holds only the entries after its fork point. */
  create(session: { id: string; folder: string; parent?: ForkPoint }): SessionLog
  /**
   * Opens a session for writing, for one process at a time. Throws a `StoreError` if there is none or it is in use. With
   * `takeOver`, also takes it from a process on another machine or in another container that may still run.
   */
  open(id: string, options?: { readonly takeOver?: boolean }): SessionLog
  /** The entries of a session and of what it was forked from, in order, without opening it for writing. */
  read(id: string): SessionContents
  /** All sessions, the newest first. */
  list(): SessionSummary[]
  /** Removes a session, unless another was forked from it, and the blobs that no entry refers to any more. */
  remove(id: string): void
  /** Stores a blob under the hash of its content for as long as an entry refers to it, and returns the hash. */
  putBlob(bytes: Uint8Array): string
  /** The blob, unless it is missing or damaged. */
  getBlob(hash: string): Uint8Array | undefined
}

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
   * Adds an entry that survives the process. Throws a `StoreError` if it cannot be written, and from then on always: later
   * entries would build on a missing one.
   */
  append(body: EntryBody): Entry
  /** Resolves when all durable entries are on the disk; they then survive a crash of the machine. */
  flush(): Promise<void>
  close(): void
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

/** A failure of a store. The code decides; the message is for people, without a capital and a full stop. */
export class StoreError extends Error {
  readonly code: StoreErrorCode

  constructor(code: StoreErrorCode, message: string) {
    super(message)
    this.code = code
  }

  /** Did the disk fail, and not the caller? */
  get isDiskError(): boolean {
    return this.code === 'disk-full' || this.code === 'write-failed'
  }
}
