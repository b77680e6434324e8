import type { InspectedExchange } from '../../../gateway/inspector/inspected-exchange.ts'
import { defined } from '../../../model/defined.ts'
import type { Fault } from '../../../model/fault.ts'
import { isObject, stringOrEmpty } from '../../../model/json.ts'
import type { ModelOrigin } from '../../../model/turn.ts'
import { parseUsage } from '../../../model/usage.ts'
import type { Entry } from '../../../session/log/entry.ts'

/** A request of a session, by its place in the log. */
export interface SessionRequest {
  readonly entry: Extract<Entry, { kind: 'request' }>
  /** What was new to the model: from here up to its response and the results of its calls. */
  readonly from: number
  readonly at: number
  readonly to: number
  readonly turn?: Extract<Entry, { kind: 'turn' }>
  readonly vendorReason?: string
  readonly exchange: Omit<InspectedExchange, 'id' | 'client' | 'cost'> & { readonly origin?: ModelOrigin }
}

/** Every request of a log, with its response or its fault. */
export function listSessionRequests(entries: readonly Entry[]): SessionRequest[] {
  const places = entries.flatMap((entry, at) => (entry.kind === 'request' ? [at] : []))
  let failures = 0
  return places.flatMap((at, number) => {
    const entry = entries[at]
    if (entry?.kind !== 'request') return []
    const to = places[number + 1] ?? entries.length
    const request = readRequest(entries, entry, { from: (places[number - 1] ?? -1) + 1, at, to, failures })
    failures = request.exchange.fault && !request.turn ? failures + 1 : 0
    return [request]
  })
}

interface Place {
  readonly from: number
  readonly at: number
  readonly to: number
  /** The requests before it that failed, one after the other. */
  readonly failures: number
}

function readRequest(
  entries: readonly Entry[],
  entry: Extract<Entry, { kind: 'request' }>,
  { failures, ...place }: Place,
): SessionRequest {
  const following = entries.slice(place.at + 1, place.to)
  const turn = following.find((one) => one.kind === 'turn')
  const failed = following.find((one) => one.kind === 'fault')
  const compact = entry.summary ? following.find((one) => one.kind === 'compact') : undefined
  const origin = turn?.turn.origin
  const fault = turn?.turn.finish.fault ?? (failed && readFault(failed.fault))
  const ended = turn ?? failed ?? compact
  const isOver = ended !== undefined || place.to < entries.length || entries.at(-1)?.kind === 'close'
  const usage = turn?.turn.usage ?? parseUsage(compact?.usage) ?? (failed && parseUsage(failed.usage))
  const totalMs = turn?.ms ?? compact?.ms ?? (ended ? ended.at - entry.at : 0)
  return {
    entry,
    ...place,
    ...defined({ turn, vendorReason: turn?.cacheDiagnosis?.reason }),
    exchange: {
      started: entry.at,
      model: entry.model,
      isStream: true,
      requestBytes: entry.bytes,
      responseBytes: turn ? JSON.stringify(turn.turn.parts).length : 0,
      attempts: failures + 1,
      warnings: (turn?.warnings ?? []).map((warning) => ({ ...warning, stage: 'upstream-response' })),
      ...(entry.summary && { purpose: 'summary' }),
      ...(isOver && { totalMs }),
      ...defined({
        origin,
        wire: origin?.wire,
        provider: origin?.provider,
        upstreamModel: origin?.model,
        upstreamWire: origin?.wire,
        usage,
        fault,
      }),
    },
  }
}

function readFault(json: unknown): Fault {
  const fields = isObject(json) ? json : {}
  return {
    ...fields,
    kind: (stringOrEmpty(fields['kind']) || 'server') as Fault['kind'],
    message: stringOrEmpty(fields['message']),
  }
}
