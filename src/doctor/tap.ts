import type { Letter, Post, Reply } from '../provider/transport.ts'

/** What went over the wire for one request, as it was seen from here. */
export interface Trace {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly chunks: readonly Uint8Array[]
  /** The body came to its end, it broke off, or we hung up; `none` where no answer began. */
  readonly ended: 'whole' | 'broken' | 'stopped' | 'none'
}

/** A way to send that keeps a copy of everything that comes back. */
export function tapped(post: Post, seen: (trace: () => Trace) => void): Post {
  return async (letter: Letter, signal: AbortSignal): Promise<Reply> => {
    const chunks: Uint8Array[] = []
    let head: Pick<Trace, 'status' | 'headers'> = { status: 0, headers: {} }
    let ended: Trace['ended'] = 'none'
    seen(() => ({ ...head, chunks, ended }))
    const reply = await post(letter, signal)
    head = { status: reply.status, headers: reply.headers }
    ended = 'stopped'
    return { ...reply, body: copied() }

    async function* copied(): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of reply.body) {
          chunks.push(chunk)
          yield chunk
        }
        ended = 'whole'
      } catch (error) {
        if (!signal.aborted) ended = 'broken'
        throw error
      }
    }
  }
}

/** A way to send that sends nothing: it answers with what it is given, as often as it is asked. */
export function canned(reply: { status: number; headers: Reply['headers']; chunks: readonly Uint8Array[] }): Post {
  return () => Promise.resolve({ status: reply.status, headers: reply.headers, body: played(reply.chunks) })
}

async function* played(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}
