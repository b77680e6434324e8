import type { Redactor } from '../../model/secret.ts'
import type { Post, Reply } from '../transport.ts'

/** One phase of an exchange. Nothing of what was said is in it. */
export interface Phase {
  /** The exchange, counted from 1. */
  readonly n: number
  readonly phase: 'request' | 'head' | 'first-byte' | 'end' | 'stopped' | 'error'
  /** Milliseconds since the request. */
  readonly ms: number
  readonly method?: string
  readonly url?: string
  readonly status?: number
  readonly bytes?: number
  readonly chunks?: number
  readonly error?: string
}

/** Tells of every phase of every exchange, with its time. */
export function trace(
  post: Post,
  secrets: Redactor,
  tell: (phase: Phase) => void,
  now: () => number = () => performance.now(),
): Post {
  let count = 0
  return async (letter, signal) => {
    const n = ++count
    const start = now()
    const say = (phase: Phase['phase'], more: Omit<Phase, 'n' | 'phase' | 'ms'> = {}): void =>
      tell({ n, phase, ms: Math.round((now() - start) * 10) / 10, ...more })
    const broken = (error: unknown): void =>
      say('error', { error: secrets.clean(error instanceof Error ? error.message : String(error)).slice(0, 300) })
    const bytes = letter.body.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
    say('request', { method: letter.method ?? 'POST', url: secrets.clean(letter.url.href), bytes })
    try {
      const reply = await post(letter, signal)
      say('head', { status: reply.status })
      return { ...reply, body: watched(reply.body, signal, say, broken) }
    } catch (error) {
      broken(error)
      throw error
    }
  }
}

async function* watched(
  body: Reply['body'],
  stopped: AbortSignal,
  say: (phase: Phase['phase'], more?: Pick<Phase, 'bytes' | 'chunks'>) => void,
  broken: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  let [bytes, chunks] = [0, 0]
  let open = true
  const end = (tell: () => void): void => {
    if (open) tell()
    open = false
  }
  // Whoever has heard enough does not read on; but they stop the connection.
  stopped.addEventListener('abort', () => end(() => say('stopped', { bytes, chunks })), { once: true })
  try {
    for await (const piece of body) {
      if (chunks === 0) say('first-byte')
      chunks++
      bytes += piece.length
      yield piece
    }
    end(() => say('end', { bytes, chunks }))
  } catch (error) {
    end(() => broken(error))
    throw error
  }
}
