import { isObject, type Json } from '../../model/json.ts'
import type { SentRequest } from '../../provider/index.ts'
import type { Entry, EntryBody } from '../../session/log/entry.ts'
import type { Session } from '../../session/session.ts'
import { countCommonPrefix, joinHashLists, type PrefixHashes } from '../../wire/history/prefix-hashes.ts'
import type { RunEvent } from './run-event.ts'

/** What the log keeps of a request's marks: those of its history only from where it parts from the request before. */
export interface RequestPrefix {
  readonly settings: string
  readonly tools: string
  readonly system: string
  /** How many messages are those of the request before. */
  readonly same: number
  readonly fresh: readonly string[]
}

/** Notes the requests that go out in the log. */
export interface RequestLogger {
  readonly onSent: (sent: SentRequest) => void
  /** What was noted since the last time. Throws what the log threw, for a port must not be troubled with it. */
  takeEvents(): RunEvent[]
}

/** Starts noting requests. A long history is not written down again: what that costs does not grow. */
export function createRequestLogger(
  session: Session,
  prompt: string,
  purpose: 'turn' | 'summary' = 'turn',
): RequestLogger {
  const events: RunEvent[] = []
  let failure: { error: unknown } | undefined
  return {
    onSent(sent) {
      try {
        events.push({ type: 'entry', entry: session.append(createRequestEntry(session, prompt, sent, purpose)) })
      } catch (error) {
        failure ??= { error }
      }
    },
    takeEvents() {
      if (failure) throw failure.error
      return events.length === 0 ? events : events.splice(0)
    },
  }
}

function createRequestEntry(
  session: Session,
  prompt: string,
  { origin, bytes, prefixHashes }: SentRequest,
  purpose: 'turn' | 'summary',
): EntryBody {
  const entry = { kind: 'request', model: `${origin.provider}/${origin.model}`, prompt, bytes } as const
  // What is asked besides the conversation is not what the next request goes on from.
  if (purpose === 'summary') return { ...entry, summary: true }
  if (!prefixHashes) return entry
  const last = lastHistories.get(session) ?? readLastHistory(session.entries)
  lastHistories.set(session, last)
  const prefix = diffRequestPrefix(last, prefixHashes)
  return { ...entry, prefix: { ...prefix, fresh: [...prefix.fresh] } }
}

/** The prefix in an entry, if it has one that can be read. */
export function parseRequestPrefix(json: Json | undefined): RequestPrefix | undefined {
  if (!isObject(json)) return undefined
  const { settings, tools, system, same, fresh } = json
  if (typeof settings !== 'string' || typeof tools !== 'string' || typeof system !== 'string') return undefined
  if (typeof same !== 'number' || !Array.isArray(fresh)) return undefined
  if (!Number.isInteger(same) || same < 0 || same > MAX_HISTORY_MESSAGES) return undefined
  return { settings, tools, system, same, fresh: fresh.filter((mark) => typeof mark === 'string') }
}

/** No history has more messages: a log that says so was not written by us. */
const MAX_HISTORY_MESSAGES = 1e6

/** The marks of the last request of each session that is in use. */
const lastHistories = new WeakMap<Session, string[]>()

/** The marks of the history of the last request in a log. */
function readLastHistory(entries: readonly Entry[]): string[] {
  const marks: string[] = []
  for (const entry of entries) {
    const prefix = entry.kind === 'request' ? parseRequestPrefix(entry.prefix) : undefined
    if (!prefix) continue
    // A damaged log may lack the request that this one goes on from.
    while (marks.length < prefix.same) marks.push('')
    marks.length = prefix.same
    for (const mark of prefix.fresh) marks.push(mark)
  }
  return marks
}

/** What is new in a request; `last` becomes its history. */
function diffRequestPrefix(last: string[], { settings, tools, system, history }: PrefixHashes): RequestPrefix {
  const same = countCommonPrefix(joinHashLists(last, []), history)
  const fresh = Array.from({ length: history.length - same }, (_, at) => history.at(same + at) ?? '')
  last.length = same
  for (const mark of fresh) last.push(mark)
  return { settings, tools, system, same, fresh }
}
