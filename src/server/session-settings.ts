import { isObject, type JsonObject } from '../model/json.ts'
import type { Entry } from '../session/log/entry.ts'

/** With what a session is run. It is in the log, so that any machine can go on with the session. */
export interface SessionSettings {
  /** One of the agents of the server. */
  readonly agent?: string
  /** `provider/model`, if it is not that of the agent. */
  readonly model?: string
  readonly workspace?: GitWorkspace
  /** Only workers with this label run it. */
  readonly label?: string
}

/** A folder of the worker with the files of a repository. */
export interface GitWorkspace {
  readonly git: string
  /** A branch, a tag or a commit; the default branch if absent. */
  readonly ref?: string
}

export function readSessionSettings(entries: readonly Entry[]): SessionSettings {
  const last = entries.findLast((entry) => entry.kind === 'settings')
  return last && isObject(last.settings) ? last.settings : {}
}

export function toSettingsEntry(settings: SessionSettings): { kind: 'settings'; settings: JsonObject } {
  return { kind: 'settings', settings: JSON.parse(JSON.stringify(settings)) as JsonObject }
}
