import { isObject, type Json } from '../../model/json.ts'
import type { SentRequest } from '../../provider/index.ts'
import type { Entry, EntryBody } from '../../session/log/entry.ts'
import type { Session } from '../../session/session.ts'
import { countCommonPrefix, joinHashLists, type PrefixHashes } from '../../wire/history/prefix-hashes.ts'
import type { RunEvent } from './run-event.ts'

/** The prefix hashes of a request, as the log has them: of the history only what differs from the request before. */
export interface LoggedRequestPrefix {
  readonly settings: string
  readonly tools: string
  readonly system: string
  /** How many messages are the same as in the request before. */
  readonly same: number
  readonly fresh: readonly string[]
}

interface RequestLogger {
  readonly onSent: (sent: SentRequest) => void
  /** The events since the last call. Throws the errors of the log, because `onSent` must not throw into the model. */
  takeEvents(): RunEvent[]
}

/** Logs the requests that are sent. An entry does not grow with the history. */
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
  // The next request does not extend a request for a summary.
  if (purpose === 'summary') return { ...entry, summary: true }
  if (!prefixHashes) return entry
  const last = lastHistories.get(session) ?? readLastHistory(session.entries)
  lastHistories.set(session, last)
  const prefix = diffRequestPrefix(last, prefixHashes)
  return { ...entry, prefix: { ...prefix, fresh: [...prefix.fresh] } }
}

export function parseLoggedRequestPrefix(json: Json | undefined): LoggedRequestPrefix | undefined {
  if (!isObject(json)) return undefined
  const { settings, tools, system, same, fresh } = json
  if (typeof settings !== 'string' || typeof tools !== 'string' || typeof system !== 'string') return undefined
  if (typeof same !== 'number' || !Array.isArray(fresh)) return undefined
  if (!Number.isInteger(same) || same < 0 || same > MAX_HISTORY_MESSAGES) return undefined
  return { settings, tools, system, same, fresh: fresh.filter((hash) => typeof hash === 'string') }
}

/** A larger number was not written by Dragoman. */
const MAX_HISTORY_MESSAGES = 1e6

const lastHistories = new WeakMap<Session, string[]>()

function readLastHistory(entries: readonly Entry[]): string[] {
  const hashes: string[] = []
  for (const entry of entries) {
    const prefix = entry.kind === 'request' ? parseLoggedRequestPrefix(entry.prefix) : undefined
    if (!prefix) continue
    // In a damaged log, the request before may be missing.
    while (hashes.length < prefix.same) hashes.push('')
    hashes.length = prefix.same
    for (const hash of prefix.fresh) hashes.push(hash)
  }
  return hashes
}

/** Also updates `last` to the history of this request. */
function diffRequestPrefix(last: string[], { settings, tools, system, history }: PrefixHashes): LoggedRequestPrefix {
  const same = countCommonPrefix(joinHashLists(last, []), history)
  const fresh = Array.from({ length: history.length - same }, (_, at) => history.at(same + at) ?? '')
  last.length = same
  for (const hash of fresh) last.push(hash)
  return { settings, tools, system, same, fresh }
}
