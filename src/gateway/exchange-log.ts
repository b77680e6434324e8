import { type BodyPiece, joinBodyPieces } from '../wire/history/encoded-messages.ts'
import { defined } from '../model/defined.ts'
import type { Warning } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import { SECRET_HEADER_PATTERN } from '../model/security/redactor.ts'
import type { WireId } from '../model/turn.ts'
import type { Usage } from '../model/usage.ts'
import { CREDENTIAL_HEADERS } from './access.ts'
import { type ByteCollector, createByteCollector } from './byte-collector.ts'

/** Where in an exchange something was noticed. */
export type ExchangeStage = 'client-request' | 'upstream-request' | 'upstream-response' | 'client-response'

export interface ExchangeWarning extends Warning {
  readonly stage?: ExchangeStage
}

/** One request of a client and its response. Times are milliseconds: `started` since 1970, the others since the start. */
export interface Exchange {
  readonly id: number
  readonly started: number
  readonly client: string
  /** The same for all requests of one session of the client. */
  readonly session?: string
  /** The first words of the user in it. */
  readonly title?: string
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
  /** The requests to models, with retries. */
  readonly attempts?: number
  readonly usage?: Usage
  /** In US dollars, if the price is known. */
  readonly cost?: number
  readonly warnings: readonly ExchangeWarning[]
  readonly fault?: Fault
}

type Headers = Readonly<Record<string, string>>

/** One request to a model, and its response, without secrets. */
export interface UpstreamExchange {
  readonly url: string
  readonly requestHeaders: Headers
  /** Absent if it is the client's own, byte by byte. */
  readonly request?: string
  readonly status?: number
  readonly responseHeaders?: Headers
  /** Absent if the client got the same bytes. */
  readonly response?: string
  readonly error?: string
}

/** The bodies as the client sent and got them, and as the models got and sent them, without secrets. */
export interface ExchangeBodies {
  readonly requestHeaders: Headers
  readonly request: string
  readonly responseHeaders: Headers
  readonly response: string
  readonly upstream: readonly UpstreamExchange[]
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

interface Attempt {
  readonly url: string
  readonly requestHeaders: Headers
  readonly request?: string
  status?: number
  responseHeaders?: Headers
  response?: ByteCollector
  error?: string
}

interface Entry {
  exchange: Exchange
  requestHeaders: Headers
  request: string
  responseHeaders: Headers
  readonly response: ByteCollector
  readonly attempts: Attempt[]
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
    bodyChars -= countChars(entry)
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
    begin(
      fields: Omit<Exchange, 'id' | 'started' | 'responseBytes' | 'warnings' | 'requestBytes'>,
      request: string,
      requestHeaders: Headers = {},
    ) {
      const started = now()
      const requestBytes = Buffer.byteLength(request)
      const exchange: Exchange = { ...fields, id: ++count, started, requestBytes, responseBytes: 0, warnings: [] }
      const entry: Entry = {
        exchange,
        requestHeaders,
        request: request.slice(0, MAX_BODY_CHARS),
        responseHeaders: {},
        response: createByteCollector(MAX_BODY_CHARS),
        attempts: [],
        isCut: request.length > MAX_BODY_CHARS,
      }
      entries.set(exchange.id, entry)
      bodyChars += entry.request.length
      trim()
      notify(exchange)
      let responseBytes = 0
      let firstByteMs: number | undefined
      const update = (more: Partial<Exchange>): void => {
        entry.exchange = { ...entry.exchange, ...more }
      }
      const keep = (chars: number): void => {
        if (entries.has(exchange.id)) bodyChars += chars
      }
      return {
        get exchange(): Exchange {
          return entry.exchange
        },
        update,
        addWarnings: (warnings: readonly ExchangeWarning[]) =>
          update({ warnings: [...entry.exchange.warnings, ...warnings] }),
        setResponseHeaders: (headers: Headers): void => void (entry.responseHeaders = headers),
        /** Bytes that the client got. It is called for each chunk, so it only counts and keeps. */
        addResponse(bytes: Uint8Array | string): void {
          firstByteMs ??= now() - started
          responseBytes += typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length
          keep(entry.response.push(bytes))
        },
        /** A request to a model. What passes through is kept once. */
        beginAttempt(url: string, headers: Headers, body: readonly BodyPiece[]) {
          const text = joinBodyPieces(body)
          const isSame = text === request
          const kept = isSame ? '' : text.slice(0, MAX_BODY_CHARS)
          const attempt: Attempt = { url, requestHeaders: headers, ...(!isSame && { request: kept }) }
          if (kept.length < text.length && !isSame) entry.isCut = true
          // Only the last attempts are of interest.
          if (entry.attempts.length < MAX_ATTEMPTS) {
            entry.attempts.push(attempt)
            keep(kept.length)
          }
          update({ attempts: (entry.exchange.attempts ?? 0) + 1 })
          const isPassed = entry.exchange.mode === 'pass-through'
          return {
            respond(status: number, responseHeaders: Headers): void {
              attempt.status = status
              attempt.responseHeaders = responseHeaders
              if (!isPassed || status >= 400) attempt.response = createByteCollector(MAX_BODY_CHARS)
            },
            push(bytes: Uint8Array): void {
              if (attempt.response && entry.attempts.includes(attempt)) keep(attempt.response.push(bytes))
            },
            fail: (message: string): void => void (attempt.error = message),
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
    get(id: number): Exchange | undefined {
      const entry = entries.get(id)
      return entry && redactExchange(entry.exchange, redact)
    },
    readBodies(id: number): ExchangeBodies | undefined {
      const entry = entries.get(id)
      return entry && readEntryBodies(entry, redact)
    },
    /** The exchanges with this text in a body of the client, newest first; lower and upper case are the same. */
    search(text: string): number[] {
      const pattern = new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`), 'i')
      const found = [...entries].filter(
        ([, { request, response }]) => pattern.test(request) || pattern.test(response.toText()),
      )
      return found.map(([id]) => id).toReversed()
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

const MAX_ATTEMPTS = 8

function countChars({ request, response, attempts }: Entry): number {
  const ofAttempts = attempts.map((one) => (one.request?.length ?? 0) + (one.response?.length ?? 0))
  return [request.length, response.length, ...ofAttempts].reduce((sum, length) => sum + length, 0)
}

function readEntryBodies(entry: Entry, redact: (text: string) => string): ExchangeBodies {
  const { attempts, response } = entry
  return {
    requestHeaders: redactHeaders(entry.requestHeaders, redact),
    request: redact(entry.request),
    responseHeaders: redactHeaders(entry.responseHeaders, redact),
    response: redact(response.toText()),
    upstream: attempts.map((attempt) => ({
      url: redact(attempt.url),
      requestHeaders: redactHeaders(attempt.requestHeaders, redact),
      ...defined({
        request: attempt.request === undefined ? undefined : redact(attempt.request),
        status: attempt.status,
        responseHeaders: attempt.responseHeaders && redactHeaders(attempt.responseHeaders, redact),
        response: attempt.response && redact(attempt.response.toText()),
        error: attempt.error === undefined ? undefined : redact(attempt.error),
      }),
    })),
    isCut: entry.isCut || response.isCut || attempts.some((one) => one.response?.isCut),
  }
}

function redactExchange(exchange: Exchange, redact: (text: string) => string): Exchange {
  const { fault, warnings, session, title } = exchange
  return {
    ...exchange,
    client: redact(exchange.client),
    model: redact(exchange.model),
    path: redact(exchange.path),
    ...defined({
      session: session === undefined ? undefined : redact(session),
      title: title === undefined ? undefined : redact(title),
    }),
    warnings: warnings.map((warning) => ({ ...warning, message: redact(warning.message) })),
    ...(fault && { fault: { ...fault, message: redact(fault.message) } }),
  }
}

function redactHeaders(headers: Headers, redact: (text: string) => string): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      SECRET_HEADER_PATTERN.test(name) || CREDENTIAL_HEADERS.includes(name) ? '[key]' : redact(value),
    ]),
  )
}
