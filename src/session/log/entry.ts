import type { Warning } from '../../model/event.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import type { SandboxAccess } from '../../model/security/sandbox-access.ts'
import type { AssistantTurn, ResultPart, UserTurn } from '../../model/turn.ts'

/** What a session log is made of: one entry for each thing that happened, and nothing is ever changed afterwards. */
export type Entry = EntryBody & {
  /** Counts from 1 in each file. */
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** The kinds of entries. Those marked (c) make the conversation; the others say how it was carried out. */
export type EntryBody =
  /** The first entry: what this session is, and from where it was forked. */
  | {
      readonly kind: 'open'
      readonly version: number
      readonly session: string
      readonly folder: string
      readonly parent?: ForkPoint
    }
  /** (c) What the person said. */
  | {
      readonly kind: 'user'
      readonly parts: UserTurn['parts']
      readonly prompt: string
      /** The words of the person, where the first part also holds words of others. */
      readonly own?: string
      /** It was said in another session, perhaps by somebody else: it counts as no word of this person. */
      readonly foreign?: true
    }
  /**
   * (c) What the harness told the model. A note with a `topic` is never summarised: every compaction states the last note
   * of each topic again, before the summary.
   */
  | {
      readonly kind: 'note'
      readonly text: string
      readonly topic?: string
      /** It says that plan mode is on, or that it is over. */
      readonly plan?: boolean
    }
  /** (c) What the model answered. */
  | {
      readonly kind: 'turn'
      readonly turn: AssistantTurn
      readonly prompt: string
      readonly ms: number
      readonly warnings?: readonly Warning[]
    }
  /** A tool is about to run. Without a result after it, nobody knows how far it came: it never runs again. */
  | {
      readonly kind: 'intent'
      readonly call: string
      readonly name: string
      readonly input: JsonObject
      /** What the person lets a command do beyond the sandbox; where the same call began before, it runs again with that. */
      readonly access?: SandboxAccess
    }
  /** (c) How a call ended. */
  | {
      readonly kind: 'result'
      readonly result: ResultPart
      readonly ms: number
      /** Who decided whether it runs, and how: a `CallDecision`, or one of a later version. Older logs have a `decision` in words. */
      readonly decided?: { readonly by: string; readonly outcome: string; readonly rule?: string }
      readonly decision?: string
      readonly facts?: JsonObject
    }
  /** A question to the person, and its answer; it may come from another process, hours later. */
  | { readonly kind: 'ask'; readonly ask: string; readonly call: string; readonly details: JsonObject }
  | {
      readonly kind: 'reply'
      readonly ask: string
      readonly outcome: string
      readonly words?: string
      readonly input?: JsonObject
      /** What was allowed from now on, and where. */
      readonly grant?: JsonObject
      readonly scope?: string
      readonly access?: string
    }
  /** (c) The history up to here is replaced by a summary, for the model; the entries stay. */
  | {
      readonly kind: 'compact'
      readonly summary: string
      readonly keep: number
      /** The length of the history before and after, in characters. */
      readonly before: number
      readonly after: number
      /** What the summary took. */
      readonly ms?: number
      readonly usage?: Json
    }
  /** A request was sent: how long each part of it was, and its hash, to explain what the cache did. */
  | {
      readonly kind: 'request'
      readonly model: string
      readonly prompt: string
      readonly bytes: number
      /** It asked for a summary of the history, and was no part of the conversation. */
      readonly summary?: true
      readonly prefix?: Json
    }
  /** An attempt failed; what it cost counts all the same. */
  | { readonly kind: 'fault'; readonly fault: Json; readonly prompt: string; readonly usage?: Json }
  /** A tool is about to write or remove a file. What it was is kept, so that it can be put back; without `before` it was not there. */
  | {
      readonly kind: 'change'
      readonly path: string
      readonly before?: FileSnapshot
      /** The hash of what it becomes; without it, it is removed. */
      readonly after?: string
      /** Folders that are made for it, the outermost first. */
      readonly folders?: readonly string[]
    }
  /** The person had files put back: all changes since the entry `back` are undone by those since `since`. With `redo`, that undo is. */
  | {
      readonly kind: 'undo'
      readonly back: number
      readonly since: number
      readonly redo?: number
      /** Files that were left as they are, because somebody else had changed them. */
      readonly left?: readonly string[]
    }
  /** A run ended. */
  | { readonly kind: 'close'; readonly prompt: string; readonly reason: string }

/** The content of a file by its hash, and its mode. */
export interface FileSnapshot {
  readonly blob: string
  readonly mode: number
}

/** Where a session was forked: everything of the parent up to and with this entry belongs to it. */
export interface ForkPoint {
  readonly session: string
  readonly seq: number
}

/** The entries that must get to the disk soon, whether or not somebody waits for it with `saved`; the others go along. */
export function isDurableEntry(body: EntryBody): boolean {
  return (
    body.kind === 'user' ||
    body.kind === 'intent' ||
    body.kind === 'result' ||
    body.kind === 'turn' ||
    body.kind === 'change' ||
    body.kind === 'undo' ||
    body.kind === 'close'
  )
}
