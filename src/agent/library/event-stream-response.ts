import type { CallState } from '../calls/call-state.ts'
import type { RunEvent } from '../loop/run-event.ts'
import type { Run } from './run-handle.ts'

/** The part of Node's `ServerResponse` that is used. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  write(chunk: Uint8Array): boolean
  end(): unknown
  once(event: 'drain' | 'close', listener: () => void): unknown
  readonly destroyed?: boolean
}

/**
 * The events of a run as server-sent events: `event:` is the type of the run event, `data:` its JSON. The run is cancelled if the
 * client goes away.
 */
export function toSseResponse(run: Run<unknown>): Response {
  return createEventStreamResponse(run, (event) => [
    `event: ${event.type}\ndata: ${JSON.stringify(toJsonEvent(event))}\n\n`,
  ])
}

/** A run event without what cannot be sent: a call state has the call, its status and its result, but not the tool. */
export function toJsonEvent(event: RunEvent): object {
  if (event.type === 'call') return { type: 'call', call: toJsonCall(event.call) }
  return event.type === 'subagent' ? { ...event, event: toJsonEvent(event.event) } : event
}

function toJsonCall(state: CallState): object {
  const { status, call } = state
  const { id, name, input, raw } = call
  return {
    status,
    id,
    name,
    input: input ?? null,
    raw,
    ...('result' in state && { result: state.result, ms: state.ms }),
  }
}

/** Sends a response through a server of Node. Resolves when it is sent, or when the client has gone away. */
export async function sendNodeResponse(response: Response, to: NodeResponse): Promise<void> {
  to.writeHead(response.status, Object.fromEntries(response.headers))
  const reader = response.body?.getReader()
  const closed = new Promise<void>((resolve) => to.once('close', resolve))
  void closed.then(() => reader?.cancel().catch(() => undefined))
  for (;;) {
    const chunk = await reader?.read()
    if (!chunk || chunk.done || to.destroyed) break
    if (!to.write(chunk.value)) await Promise.race([closed, new Promise<void>((resolve) => to.once('drain', resolve))])
  }
  to.end()
}

/** Comments keep idle connections open while a tool runs. */
const HEARTBEAT_MS = 15_000

/** Streams what `write` makes of each event; `end` is sent after the last one. */
export function createEventStreamResponse(
  run: Run<unknown>,
  write: (event: RunEvent) => readonly string[],
  { end = '', headers = {} }: { readonly end?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Response {
  const encoder = new TextEncoder()
  const events = run[Symbol.asyncIterator]()
  let heartbeat: NodeJS.Timeout | undefined
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      heartbeat = setInterval(() => controller.enqueue(encoder.encode(': keep-alive\n\n')), HEARTBEAT_MS)
      heartbeat.unref()
    },
    async pull(controller) {
      try {
        for (;;) {
          const next = await events.next()
          const text = next.done ? end : write(next.value).join('')
          if (text !== '') controller.enqueue(encoder.encode(text))
          if (next.done) break
          if (text !== '') return
        }
        controller.close()
      } catch (error) {
        controller.error(error)
      }
      clearInterval(heartbeat)
    },
    async cancel() {
      clearInterval(heartbeat)
      run.cancel()
      await events.return?.()
    },
  })
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...headers,
    },
  })
}
