import type { Entry, EntryBody, ForkPoint, SubagentOrigin } from '../log/entry.ts'
import type { LogDamage } from '../log/scan-log.ts'

/**
 * Where sessions are kept. Everything that waits for a disk or a server is asynchronous; failures reject with a
 * `StoreError`. `storeConformance` has the requirements as test cases.
 */
export interface Store {
  /** Creates a session. A fork holds only the entries after its fork point. */
  create(session: { id: string; folder: string; parent?: ForkPoint; subagent?: SubagentOrigin }): Promise<SessionLog>
  /**
   * Opens a session for writing, for one process at a time: `in-use` if another has it. With `takeOver`, it is also taken
   * from a holder that may still run, unless that is certain; the former holder can write nothing from then on.
   */
  open(id: string, options?: { readonly takeOver?: boolean }): Promise<SessionLog>
  /**
   * The entries of a session and of what it was forked from, in order, without opening it for writing. With `after`, only
   * those with a higher number.
   */
  read(id: string, options?: { readonly after?: number }): Promise<SessionContents>
  /**
   * Every entry with a higher number than `after` (default 0), once and in order, as soon as it is saved, whoever writes it.
   * Goes on until the signal is aborted. A store that cannot be reached is tried again; rejects if the session is missing.
   */
  follow(id: string, options?: FollowOptions): AsyncIterable<Entry>
  /**
   * All sessions, those first that were changed last. With `limit` or `before`, a page of them, those first that were created
   * last: whatever changes meanwhile, no session is in two pages or in none.
   */
  list(options?: ListOptions): Promise<SessionSummary[]>
  /** Removes a session, unless another was forked from it, and the blobs that no entry refers to any more. */
  remove(id: string): Promise<void>
  /** Stores a blob under the hash of its content for as long as an entry refers to it, and returns the hash. */
  putBlob(bytes: Uint8Array): Promise<string>
  /** The blob, unless it is missing or damaged. */
  getBlob(hash: string): Promise<Uint8Array | undefined>
}

/** From where, and until when, a session is followed. */
export interface FollowOptions {
  readonly after?: number
  readonly signal?: AbortSignal
}

/** A page of the list of sessions. */
export interface ListOptions {
  /** The number of sessions. */
  readonly limit?: number
  /** The last session of the page before. It may have been removed since. */
  readonly before?: Pick<SessionSummary, 'id' | 'created'>
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
   * Aborted as soon as it is known that another process took the session over, or may have: its lock could not be renewed in
   * time. The reason is a `StoreError`. What was started for this session must stop: another process may do the same.
   */
  readonly lost: AbortSignal
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
  /** It is the session of a subagent. */
  readonly subagent?: SubagentOrigin
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
  /** Another process took the session over, or may have. */
  | 'taken-over'
  /** The log file was moved, removed or replaced while it was open. */
  | 'file-replaced'
  | 'disk-full'
  | 'write-failed'
  /** The server of the store cannot be reached, or refuses. */
  | 'unavailable'

export function createTakenOverError(id: string): StoreError {
  return new StoreError('taken-over', `the session ${id} was taken over by another process, so the run was stopped`)
}

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
