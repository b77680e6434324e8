import type { Entry, EntryBody, ForkPoint } from '../log/entry.ts'
import type { LogDamage } from '../log/scan-log.ts'

/** Where sessions live. */
export interface Store {
  /** Begins a session. A fork holds only what comes after its parent's entry. */
  create(session: { id: string; folder: string; parent?: ForkPoint }): SessionLog
  /**
   * Opens a session to go on with it; nobody else can while it is open. Throws a sentence if it is not there or in use.
   * With `takeOver`, also from a process on another machine or in another container that may or may not still run.
   */
  open(id: string, options?: { readonly takeOver?: boolean }): SessionLog
  /** The entries of a session and of what it was forked from, in order, without opening it for writing. */
  read(id: string): SessionContents
  /** All sessions, the newest first. */
  list(): SessionSummary[]
  /** Removes a session, unless another was forked from it; and blobs that no entry names any more. */
  remove(id: string): void
  /** Keeps a blob under the hash of its content, as long as an entry names it; gives the hash. */
  putBlob(bytes: Uint8Array): string
  /** The blob, if it is there and whole. */
  getBlob(hash: string): Uint8Array | undefined
}

/** What was found when a session was opened. */
export interface SessionContents {
  readonly entries: readonly Entry[]
  /** What is damaged in its own file. */
  readonly damages: readonly LogDamage[]
  /**
   * Entries up to the one with this number may have been followed by others that are lost, or that stand in another log:
   * calls without a result may have been carried out. Absent if nothing is missing.
   */
  readonly uncertainUpTo?: number
}

/** A session that is open for writing. */
export interface SessionLog extends SessionContents {
  readonly id: string
  readonly folder: string
  /** The disk knows no locks, so nothing keeps a second process from writing too. */
  readonly unlocked?: true
  /**
   * Adds an entry; it outlives the process from now on. Throws a `StoreProblem` if it cannot be written, and from then on
   * always: what came after it would stand on nothing.
   */
  append(body: EntryBody): Entry
  /** Resolves when all entries that must be on the disk are there; then they outlive the machine. */
  flush(): Promise<void>
  close(): void
}

/** A session as a list shows it. */
export interface SessionSummary {
  readonly id: string
  readonly folder: string
  readonly created: number
  readonly changed: number
  /** The first thing that the person said. */
  readonly title: string
  /** How many prompts it has had, and who answered last: `provider/model`. Absent where the end of the log does not tell. */
  readonly prompts?: number
  readonly model?: string
  /** Who was asked last. */
  readonly asked?: string
  /** It was left in the middle of a run: the program was ended, or is still at it. */
  readonly unfinished?: true
  readonly parent?: ForkPoint
}

/** Something that stands between a person and a session, in one sentence. */
export class StoreError extends Error {
  /** The disk is at fault, not what was asked for. */
  readonly isDiskError: boolean

  constructor(message: string, { isDiskError = false }: { readonly isDiskError?: boolean } = {}) {
    super(message)
    this.isDiskError = isDiskError
  }
}
