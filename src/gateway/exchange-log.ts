import { defined } from '../model/defined.ts'
import type { Warning } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import type { WireId } from '../model/turn.ts'
import type { Usage } from '../model/usage.ts'

/** One request of a client and its response. Times are milliseconds: `started` since 1970, the others since the start. */
export interface Exchange {
  readonly id: number
  readonly started: number
  readonly client: string
  readonly wire: WireId
  readonly path: string
  /** What the client asked for. */
  readonly model: string
  readonly isStream: boolean
  readonly requestBytes: number
  /** The model that answered, and how: with the same bytes, translated, or by the gateway itself. */
  readonly provider?: string
  readonly upstreamModel?: string
  readonly upstreamWire?: WireId
  readonly mode?: 'pass-through' | 'translated' | 'local'
  readonly status?: number
  readonly firstByteMs?: number
  readonly totalMs?: number
  readonly responseBytes: number
  readonly usage?: Usage
  /** In US dollars, if the price is known. */
  readonly cost?: number
  readonly warnings: readonly Warning[]
  readonly fault?: Fault
}

/** The bodies as the client sent and got them, without secrets. */
export interface ExchangeBodies {
  readonly request: string
  readonly response: string
  /** The beginning only: the rest is too long to keep. */
  readonly isCut: boolean
}

export type ExchangeLog = ReturnType<typeof createExchangeLog>

export type ExchangeRecorder = ReturnType<ExchangeLog['begin']>

interface ExchangeLogOptions {
  readonly redact: (text: string) => string
  /** Milliseconds since 1970. */
  readonly now?: () => number
  readonly maxExchanges?: number
  /** Of all bodies together. */
  readonly maxBodyChars?: number
}

interface Entry {
  exchange: Exchange
  request: string
  response: string
  isCut: boolean
}

/** Keeps the last exchanges in memory, and tells subscribers of each change. */
export function createExchangeLog(options: ExchangeLogOptions) {
  const { redact, now = Date.now, maxExchanges = 1000, maxBodyChars = 64 * 2 ** 20 } = options
  const entries = new Map<number, Entry>()
  const listeners = new Set<(exchange: Exchange) => void>()
  let count = 0
  let bodyChars = 0

  function remove(id: number): void {
    const entry = entries.get(id)
    if (!entry) return
    bodyChars -= entry.request.length + entry.response.length
    entries.delete(id)
  }

  function trim(): void {
    for (const id of entries.keys()) {
      if (entries.size <= maxExchanges && (bodyChars <= maxBodyChars || entries.size === 1)) return
      remove(id)
    }
  }

  function notify(exchange: Exchange): void {
    for (const listener of listeners) listener(exchange)
  }

  return {
    begin(fields: Omit<Exchange, 'id' | 'started' | 'responseBytes' | 'warnings' | 'requestBytes'>, request: string) {
      const started = now()
      const requestBytes = Buffer.byteLength(request)
      const exchange: Exchange = { ...fields, id: ++count, started, requestBytes, responseBytes: 0, warnings: [] }
      const entry: Entry = { exchange, request: request.slice(0, MAX_BODY_CHARS), response: '', isCut: false }
      entry.isCut = request.length > MAX_BODY_CHARS
      entries.set(exchange.id, entry)
      bodyChars += entry.request.length
      trim()
      notify(exchange)
      let responseBytes = 0
      let firstByteMs: number | undefined
      const update = (more: Partial<Exchange>): void => {
        entry.exchange = { ...entry.exchange, ...more }
      }
      return {
        get exchange(): Exchange {
          return entry.exchange
        },
        update,
        addWarnings: (warnings: readonly Warning[]) => update({ warnings: [...entry.exchange.warnings, ...warnings] }),
        /** Bytes that the client got. It is called for each chunk, so it only counts and keeps. */
        addResponse(bytes: Uint8Array | string): void {
          firstByteMs ??= now() - started
          responseBytes += typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length
          if (entry.response.length > MAX_BODY_CHARS) entry.isCut = true
          else {
            const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')
            entry.response += text
            if (entries.has(exchange.id)) bodyChars += text.length
          }
        },
        end(): void {
          if (entry.exchange.totalMs !== undefined) return
          update({ totalMs: now() - started, responseBytes, ...defined({ firstByteMs }) })
          trim()
          notify(entry.exchange)
        },
      }
    },
    /** Oldest first. */
    list: (): Exchange[] => [...entries.values()].map(({ exchange }) => redactExchange(exchange, redact)),
    readBodies(id: number): ExchangeBodies | undefined {
      const entry = entries.get(id)
      return entry && { request: redact(entry.request), response: redact(entry.response), isCut: entry.isCut }
    },
    /** Called when an exchange begins and when it ends; the result ends the subscription. */
    subscribe(listener: (exchange: Exchange) => void): () => void {
      const listen = (exchange: Exchange): void => listener(redactExchange(exchange, redact))
      listeners.add(listen)
      return () => void listeners.delete(listen)
    },
  }
}

/** Of one body. */
const MAX_BODY_CHARS = 8 * 2 ** 20

function redactExchange(exchange: Exchange, redact: (text: string) => string): Exchange {
  const { fault, warnings } = exchange
  return {
    ...exchange,
    model: redact(exchange.model),
    path: redact(exchange.path),
    warnings: warnings.map((warning) => ({ ...warning, message: redact(warning.message) })),
    ...(fault && { fault: { ...fault, message: redact(fault.message) } }),
  }
}
