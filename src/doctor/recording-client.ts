import type { HttpRequest, HttpClient, HttpResponse } from '../provider/index.ts'

export interface ResponseTrace {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly chunks: readonly Uint8Array[]
  /** The body was complete, broke off, or was aborted by us; `none` if no response started. */
  readonly ending: 'whole' | 'broken' | 'stopped' | 'none'
}

/** An HTTP client that keeps a copy of every response. */
export function createRecordingClient(client: HttpClient, onTrace: (trace: () => ResponseTrace) => void): HttpClient {
  return async (request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> => {
    const chunks: Uint8Array[] = []
    let head: Pick<ResponseTrace, 'status' | 'headers'> = { status: 0, headers: {} }
    let ending: ResponseTrace['ending'] = 'none'
    onTrace(() => ({ ...head, chunks, ending }))
    const reply = await client(request, signal)
    head = { status: reply.status, headers: reply.headers }
    ending = 'stopped'
    return { ...reply, body: copyBody() }

    async function* copyBody(): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of reply.body) {
          chunks.push(chunk)
          yield chunk
        }
        ending = 'whole'
      } catch (error) {
        if (!signal.aborted) ending = 'broken'
        throw error
      }
    }
  }
}

/** An HTTP client that sends nothing and returns a fixed response. */
export function createFixedResponseClient(reply: {
  status: number
  headers: HttpResponse['headers']
  chunks: readonly Uint8Array[]
}): HttpClient {
  return () => Promise.resolve({ status: reply.status, headers: reply.headers, body: streamChunks(reply.chunks) })
}

async function* streamChunks(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}
