import { joinBodyPieces } from '../../../wire/history/encoded-messages.ts'
import { type Redactor, SECRET_HEADER_PATTERN } from '../../../model/security/redactor.ts'
import type { HttpRequest, HttpClient, HttpResponse } from '../../http/http-client.ts'
import { joinStreamedTexts } from './joined-texts.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

/** Secrets are redacted. */
export interface RecordedExchange {
  /** Counted from 1, in the order of sending. */
  readonly number: number
  readonly request: {
    readonly method: string
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
  /** Absent until a response came. */
  readonly response?: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly chunks: readonly RecordedChunk[]
  }
  /** How the connection failed, before or during the response. */
  readonly error?: { readonly message: string; readonly code?: string }
}

/** Bytes that came together, as text or else base64, and the milliseconds since the request. */
export interface RecordedChunk {
  readonly ms: number
  readonly text?: string
  readonly base64?: string
}

/** Replaces an exchange that was not recorded. */
export interface OmittedExchange {
  readonly number: number
  readonly refused: string
}

/** Gets each exchange twice: when it was sent and when it ended. */
export type ExchangeSink = (exchange: RecordedExchange | OmittedExchange) => void

/** Records every exchange. One that still contains a secret after redaction is omitted, and reported. */
export function recordExchanges(
  httpClient: HttpClient,
  secrets: Redactor,
  keep: ExchangeSink,
  report: (sentence: string) => void,
  now: () => number = () => performance.now(),
): HttpClient {
  let count = 0
  return async (httpRequest, signal) => {
    const number = ++count
    const start = now()
    for (const value of listRequestSecrets(httpRequest)) secrets.addSecret(value)
    const request = toRecordedRequest(httpRequest, secrets)
    const store = (rest: Omit<RecordedExchange, 'number' | 'request'>, pieces: readonly TimedBytes[] = []): void => {
      const why = findRemainingSecret({ number, request, ...rest }, pieces, secrets)
      if (why === undefined) return keep({ number, request, ...rest })
      keep({ number, refused: why })
      report(`Exchange ${number} is not recorded: ${why}.`)
    }
    store({})
    try {
      const httpResponse = await httpClient(httpRequest, signal)
      const { status, headers } = httpResponse
      return {
        ...httpResponse,
        body: watched(httpResponse.body, signal, (pieces, error) => {
          const chunks = redactChunks(pieces, secrets)
          store({ response: { status, headers: redactHeaders(headers, secrets), chunks }, ...error }, pieces)
        }),
      }
    } catch (error) {
      store(toRecordedError(error, secrets))
      throw error
    }

    async function* watched(
      body: HttpResponse['body'],
      stopped: AbortSignal,
      done: (pieces: readonly TimedBytes[], error: Pick<RecordedExchange, 'error'>) => void,
    ): AsyncGenerator<Uint8Array> {
      const pieces: TimedBytes[] = []
      let open = true
      const end = (error: Pick<RecordedExchange, 'error'> = {}): void => {
        if (open) done(pieces, error)
        open = false
      }
      // A reader that has enough aborts the connection and does not read on.
      stopped.addEventListener('abort', () => end(), { once: true })
      try {
        for await (const bytes of body) {
          pieces.push({ ms: Math.round(now() - start), bytes })
          yield bytes
        }
      } catch (error) {
        end(toRecordedError(error, secrets))
        throw error
      } finally {
        end()
      }
    }
  }
}

/** A request as it is recorded, and compared in a replay. */
export function toRecordedRequest(
  { method, url, headers, body }: HttpRequest,
  secrets: Redactor,
): RecordedExchange['request'] {
  return {
    method: method ?? 'POST',
    url: secrets.redact(url.href),
    headers: redactHeaders(headers, secrets),
    body: secrets.redact(joinBodyPieces(body)),
  }
}

interface TimedBytes {
  readonly ms: number
  readonly bytes: Uint8Array
}

/** Redacts a response as a whole, since a secret may span two chunks, and splits it where it was split. */
function redactChunks(pieces: readonly TimedBytes[], secrets: Redactor): RecordedChunk[] {
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes))
  // One character per byte, so that positions in the text are positions in the bytes.
  const text = bytes.toString('latin1')
  const marks = secrets.findSpans(text)
  let [at, end, next] = [0, 0, 0]
  return pieces.map(({ ms, bytes: piece }) => {
    end += piece.length
    let out = ''
    for (let mark = marks[next]; mark && mark.start < end; mark = marks[++next]) {
      out += text.slice(at, mark.start) + mark.label
      at = mark.end
    }
    out += text.slice(at, end)
    at = Math.max(at, end)
    return { ms, ...toTextOrBase64(Buffer.from(out, 'latin1')) }
  })
}

function toTextOrBase64(bytes: Buffer): Pick<RecordedChunk, 'text' | 'base64'> {
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? { text } : { base64: bytes.toString('base64') }
}

function redactHeaders(headers: Readonly<Record<string, string>>, secrets: Redactor): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      SECRET_HEADER_PATTERN.test(name) ? '[key]' : secrets.redact(value),
    ]),
  )
}

/** The keys in a request's headers: the server may repeat them. */
function listRequestSecrets({ headers }: HttpRequest): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    SECRET_HEADER_PATTERN.test(name) ? [value, value.replace(/^(?:Bearer|Basic)\s+/i, '')] : [],
  )
}

/** A secret that is left, in the record or in the text that the events of a stream spell out together. */
function findRemainingSecret(
  cassette: RecordedExchange,
  pieces: readonly TimedBytes[],
  secrets: Redactor,
): string | undefined {
  const [remaining] = secrets.findCertainSpans(JSON.stringify(cassette))
  if (remaining) return `it still contains a secret, ${remaining.label}, after redaction`
  const texts = joinStreamedTexts(
    cassette.response?.headers['content-type'],
    Buffer.concat(pieces.map(({ bytes }) => bytes)),
  )
  for (const { text, cuts } of texts) {
    const split = secrets.findCertainSpans(text).find(({ start, end }) => cuts.some((cut) => cut > start && cut < end))
    if (split) return `its response contains a secret, ${split.label}, in pieces`
  }
  return undefined
}

export function toChunkBytes({ text, base64 }: RecordedChunk): Buffer {
  return base64 === undefined ? Buffer.from(text ?? '', 'utf8') : Buffer.from(base64, 'base64')
}

function toRecordedError(error: unknown, secrets: Redactor): Required<Pick<RecordedExchange, 'error'>> {
  const { code } = error as { code?: unknown }
  const message = secrets.redact(getErrorMessage(error))
  return { error: { message, ...(typeof code === 'string' && { code }) } }
}
