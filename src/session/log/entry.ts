import type { Warning } from '../../model/event.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import type { SandboxAccess } from '../../model/security/sandbox-access.ts'
import type { CacheDiagnosis } from '../../model/usage.ts'
import type { AssistantTurn, NoteTurn, ResultPart, UserTurn } from '../../model/turn.ts'

/** A record of the session log. The log is append-only. */
export type Entry = EntryBody & {
  /** Starts at 1; in a fork, after the number of the fork point. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** The kinds of entries. Those marked (c) are the conversation that the model gets. */
export type EntryBody =
  /** The first entry of a session. */
  | {
      readonly kind: 'open'
      readonly version: number
      readonly session: string
      readonly folder: string
      readonly parent?: ForkPoint
      readonly subagent?: SubagentOrigin
    }
  /** (c) A message of the user. */
  | {
      readonly kind: 'user'
      readonly parts: UserTurn['parts']
      readonly prompt: string
      /** What the user wrote, if the first part also contains text of others. */
      readonly own?: string
      /** The id that it had in the inbox of a server: it is never added a second time. */
      readonly message?: string
      /** Imported from another session, perhaps of somebody else: it gives no permissions. */
      readonly foreign?: true
    }
  /** With what a server runs the session: agent, model, workspace. The last one counts. */
  | { readonly kind: 'settings'; readonly settings: JsonObject }
  /** (c) A message of Dragoman to the model. Every compaction repeats the last note of each `topic` before the summary. */
  | {
      readonly kind: 'note'
      readonly text: string
      readonly topic?: string
      /** It is the report of the subagent with this session, which ran in the background. */
      readonly subagent?: string
      /** The note says that plan mode is on, or off. */
      readonly plan?: boolean
      /** Tools that are declared, or gone, from here on. */
      readonly tools?: NoteTurn['tools']
      readonly removedTools?: NoteTurn['removedTools']
    }
  /** (c) A response of the model. */
  | {
      readonly kind: 'turn'
      readonly turn: AssistantTurn
      readonly prompt: string
      readonly ms: number
      readonly warnings?: readonly Warning[]
      /** The vendor's id of the response, if the next request must name it. */
      readonly response?: string
      readonly cacheDiagnosis?: CacheDiagnosis
    }
  /** A tool is about to run. Without a result after it, its effects are unknown, and it never runs again. */
  | {
      readonly kind: 'intent'
      readonly call: string
      readonly name: string
      readonly input: JsonObject
      /** What the user lets a command do beyond the sandbox. A second intent of a call is its second run, with this access. */
      readonly access?: SandboxAccess
    }
  /** A call runs a subagent, whose log is a session of its own. In the background, the call ends before the subagent. */
  | {
      readonly kind: 'subagent'
      readonly call: string
      readonly session: string
      readonly name: string
      readonly isBackground?: true
    }
  /** (c) The result of a call. */
  | {
      readonly kind: 'result'
      readonly result: ResultPart
      readonly ms: number
      /** Who decided whether it runs, and how: a `CallDecision`, or one of a later version. Older logs have a `decision` in words. */
      readonly decided?: { readonly by: string; readonly outcome: string; readonly rule?: string }
      readonly decision?: string
      readonly facts?: JsonObject
    }
  /** A question to the user, and the answer; it may come from another process, hours later. */
  | { readonly kind: 'ask'; readonly ask: string; readonly call: string; readonly details: JsonObject }
  | {
      readonly kind: 'reply'
      readonly ask: string
      readonly outcome: string
      readonly words?: string
      readonly input?: JsonObject
      /** What is allowed from now on, and where. */
      readonly grant?: JsonObject
      readonly scope?: string
      readonly access?: string
    }
  /** (c) For the model, a summary replaces the history before the entry `keep`. */
  | {
      readonly kind: 'compact'
      readonly summary: string
      readonly keep: number
      /** The length of the history before and after, in characters. */
      readonly before: number
      readonly after: number
      readonly ms?: number
      readonly usage?: Json
    }
  /** A request was sent. `prefix` has the hashes of its parts, for the cache report. */
  | {
      readonly kind: 'request'
      readonly model: string
      readonly prompt: string
      readonly bytes: number
      /** A request for a summary of the history, which is not part of the conversation. */
      readonly summary?: true
      readonly prefix?: Json
    }
  /** An attempt failed. Its usage counts towards the cost. */
  | { readonly kind: 'fault'; readonly fault: Json; readonly prompt: string; readonly usage?: Json }
  /** A tool is about to write or remove a file. Without `before`, the file did not exist. */
  | {
      readonly kind: 'change'
      readonly path: string
      readonly before?: FileSnapshot
      /** The hash of the new content; absent if the file is removed. */
      readonly after?: string
      /** Folders that are created for it, the outermost first. */
      readonly folders?: readonly string[]
    }
  /** The user undid the changes since the entry `back`, by the changes since `since`. With `redo`, that undo was reverted. */
  | {
      readonly kind: 'undo'
      readonly back: number
      readonly since: number
      readonly redo?: number
      /** Files that were not restored, because somebody else had changed them. */
      readonly left?: readonly string[]
    }
  /** A run ended. */
  | { readonly kind: 'close'; readonly prompt: string; readonly reason: string }

export interface FileSnapshot {
  readonly blob: string
  readonly mode: number
}

/** A fork has all entries of its parent up to and including this one. */
export interface ForkPoint {
  readonly session: string
  readonly seq: number
}

/** The session and the call that a session works for, and the name of its agent. */
export interface SubagentOrigin {
  readonly session: string
  readonly call: string
  readonly name: string
}

interface EntryTraits {
  /** It must be on the disk soon, even if nobody calls `flush`. */
  readonly isDurable?: true
  /** After it, no call of the last turn can be waiting to run. */
  readonly isIdle?: true
  /** As the last entry of a log, it shows that no run was interrupted. */
  readonly isBetweenRuns?: true
}

export const LOG_ENTRY_TRAITS: Readonly<Record<Entry['kind'], EntryTraits>> = {
  open: { isIdle: true, isBetweenRuns: true },
  user: { isDurable: true },
  settings: { isDurable: true, isIdle: true, isBetweenRuns: true },
  note: { isIdle: true, isBetweenRuns: true },
  turn: { isDurable: true },
  intent: { isDurable: true },
  subagent: { isDurable: true },
  result: { isDurable: true },
  ask: {},
  reply: {},
  compact: {},
  request: {},
  fault: {},
  change: { isDurable: true, isBetweenRuns: true },
  undo: { isDurable: true, isIdle: true, isBetweenRuns: true },
  close: { isDurable: true, isIdle: true, isBetweenRuns: true },
}
