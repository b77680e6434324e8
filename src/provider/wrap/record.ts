import { type Redactor, SECRET_HEADER } from '../../model/secret.ts'
import type { Letter, Post, Reply } from '../transport.ts'
import { spokenIn } from './spoken-in.ts'

/** One exchange as it is kept: what was sent, what came back and when; secrets are taken out. */
export interface Cassette {
  /** Counted from 1, in the order in which the requests were sent. */
  readonly number: number
  readonly request: {
    readonly method: string
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
  /** Absent as long as nothing has come. */
  readonly response?: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly chunks: readonly Chunk[]
  }
  /** How the connection failed, before the answer or in the middle of it. */
  readonly error?: { readonly message: string; readonly code?: string }
}

/** Bytes that came together: as text, or as base64 where they are none; and milliseconds since the request. */
export interface Chunk {
  readonly ms: number
  readonly text?: string
  readonly base64?: string
}

/** What stands in the place of an exchange that was not kept. */
export interface Refused {
  readonly number: number
  readonly refused: string
}

/** Where exchanges are kept; each is put there twice, when it was sent and when it is over. */
export type Keep = (exchange: Cassette | Refused) => void

/** Keeps every exchange. One in which a secret is still found after all were taken out is not kept, and that is told. */
export function record(
  post: Post,
  secrets: Redactor,
  keep: Keep,
  told: (sentence: string) => void,
  now: () => number = () => performance.now(),
): Post {
  let count = 0
  return async (letter, signal) => {
    const number = ++count
    const start = now()
    for (const value of secretsOf(letter)) secrets.learn(value)
    const request = requestOf(letter, secrets)
    const put = (rest: Omit<Cassette, 'number' | 'request'>, pieces: readonly Piece[] = []): void => {
      const why = secretIn({ number, request, ...rest }, pieces, secrets)
      if (why === undefined) return keep({ number, request, ...rest })
      keep({ number, refused: why })
      told(`Exchange ${number} is not recorded: ${why}.`)
    }
    put({})
    try {
      const reply = await post(letter, signal)
      const { status, headers } = reply
      return {
        ...reply,
        body: watched(reply.body, signal, (pieces, error) => {
          const chunks = cleanChunks(pieces, secrets)
          put({ response: { status, headers: cleanHeaders(headers, secrets), chunks }, ...error }, pieces)
        }),
      }
    } catch (error) {
      put(failure(error, secrets))
      throw error
    }

    async function* watched(
      body: Reply['body'],
      stopped: AbortSignal,
      done: (pieces: readonly Piece[], error: Pick<Cassette, 'error'>) => void,
    ): AsyncGenerator<Uint8Array> {
      const pieces: Piece[] = []
      let open = true
      const end = (error: Pick<Cassette, 'error'> = {}): void => {
        if (open) done(pieces, error)
        open = false
      }
      // Whoever has heard enough does not read on; but they stop the connection.
      stopped.addEventListener('abort', () => end(), { once: true })
      try {
        for await (const bytes of body) {
          pieces.push({ ms: Math.round(now() - start), bytes })
          yield bytes
        }
      } catch (error) {
        end(failure(error, secrets))
        throw error
      } finally {
        end()
      }
    }
  }
}

/** A request as it is kept, and as another is compared with it. */
export function requestOf({ method, url, headers, body }: Letter, secrets: Redactor): Cassette['request'] {
  return {
    method: method ?? 'POST',
    url: secrets.clean(url.href),
    headers: cleanHeaders(headers, secrets),
    body: secrets.clean(body.join('')),
  }
}

interface Piece {
  readonly ms: number
  readonly bytes: Uint8Array
}

/** Cleans an answer as a whole, since a secret may lie across two pieces; then cuts it where it was cut. */
function cleanChunks(pieces: readonly Piece[], secrets: Redactor): Chunk[] {
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes))
  // One letter a byte, so that places in the text are places in the bytes; what we look for is ASCII.
  const text = bytes.toString('latin1')
  const marks = secrets.marks(text)
  let [at, end, next] = [0, 0, 0]
  return pieces.map(({ ms, bytes: piece }) => {
    end += piece.length
    let out = ''
    for (let mark = marks[next]; mark && mark.start < end; mark = marks[++next]) {
      out += text.slice(at, mark.start) + mark.word
      at = mark.end
    }
    out += text.slice(at, end)
    at = Math.max(at, end)
    return { ms, ...written(Buffer.from(out, 'latin1')) }
  })
}

function written(bytes: Buffer): Pick<Chunk, 'text' | 'base64'> {
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? { text } : { base64: bytes.toString('base64') }
}

function cleanHeaders(headers: Readonly<Record<string, string>>, secrets: Redactor): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET_HEADER.test(name) ? '[key]' : secrets.clean(value)]),
  )
}

/** The keys that go with a letter: the server may repeat them. */
function secretsOf({ headers }: Letter): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    SECRET_HEADER.test(name) ? [value, value.replace(/^(?:Bearer|Basic)\s+/i, '')] : [],
  )
}

/** What of a cassette is still secret: in what is written, or in what the pieces of a stream say together. */
function secretIn(cassette: Cassette, pieces: readonly Piece[], secrets: Redactor): string | undefined {
  const [left] = secrets.sure(JSON.stringify(cassette))
  if (left) return `it still holds a secret, ${left.word}, after all were taken out`
  const spoken = spokenIn(cassette.response?.headers['content-type'], Buffer.concat(pieces.map(({ bytes }) => bytes)))
  for (const { text, cuts } of spoken) {
    const split = secrets.sure(text).find(({ start, end }) => cuts.some((cut) => cut > start && cut < end))
    if (split) return `its answer spells out a secret, ${split.word}, in pieces`
  }
  return undefined
}

/** The bytes of a chunk. */
export function bytesOf({ text, base64 }: Chunk): Buffer {
  return base64 === undefined ? Buffer.from(text ?? '', 'utf8') : Buffer.from(base64, 'base64')
}

function failure(error: unknown, secrets: Redactor): Required<Pick<Cassette, 'error'>> {
  const { code } = error as { code?: unknown }
  const message = secrets.clean(error instanceof Error ? error.message : String(error))
  return { error: { message, ...(typeof code === 'string' && { code }) } }
}
