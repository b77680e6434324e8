import { setMaxListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../model/json.ts'
import type { Entry } from '../../session/log/entry.ts'
import type { SessionContents } from '../../session/store/store.ts'
import type { InboxMessage, SessionKey } from '../backend.ts'
import { ApiError } from '../http/api-error.ts'
import { type ApiRequest, getSessionKey, type Route } from '../http/route.ts'
import { getState, type SessionState } from '../session-service.ts'

export const eventRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/sessions/{session}/events',
    operation: 'streamEvents',
    summary:
      'The entries of the session as server-sent events: `entry` with the number of the entry as its id, `state`, and `live` for text while it is received. After a break, connect again with `Last-Event-ID`: no entry is lost or sent twice.',
    scope: 'read',
    query: { after: { description: 'Only entries after this number.', schema: { type: 'integer', minimum: 0 } } },
    headers: {
      'Last-Event-ID': { description: 'The same; browsers send it by themselves.', schema: { type: 'string' } },
    },
    responses: { 200: { description: 'The stream. It does not end by itself.', type: 'text/event-stream' } },
    async handle(request) {
      const { tenant, config, limits, service, metrics } = request
      const key = getSessionKey(request)
      const after = getStart(request)
      // In this order: a message is in the log before it leaves the inbox.
      const messages = await service.backend.inbox.list(key)
      const contents = await service.read(key)
      const close = limits.openStream(tenant, config.limits ?? {})
      metrics.openStreams.add(1)
      return {
        async stream(response) {
          try {
            await streamEvents(request, key, { contents, messages, after }, response)
          } finally {
            close()
            metrics.openStreams.add(-1)
            response.end()
          }
        },
      }
    },
  },
]

/** The header counts: it is what a browser sends when it connects again to the same URL. */
function getStart({ headers, query }: ApiRequest): number {
  const last = headers['last-event-id']
  if (last === undefined || last === '') return Number(query.get('after') ?? 0)
  if (typeof last === 'string' && /^\d{1,15}$/.test(last)) return Number(last)
  throw new ApiError('invalid-request', 'The header Last-Event-ID is not the number of an entry.')
}

interface StreamStart {
  readonly contents: SessionContents
  readonly messages: readonly InboxMessage[]
  readonly after: number
}

async function streamEvents(
  { service, signal }: ApiRequest,
  key: SessionKey,
  { contents, messages, after }: StreamStart,
  response: ServerResponse,
): Promise<void> {
  const { backend } = service
  setMaxListeners(0, signal)
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  // A client that reads slowly gets all entries, but not all of the text on its way to them.
  const live = backend.live.watch(key, (event) => {
    if (!response.writableNeedDrain && !signal.aborted) response.write(formatEvent('live', event))
  })
  const keepAlive = setInterval(() => response.write(': keep-alive\n\n'), KEEP_ALIVE_MS)
  const lastEnd = contents.entries.findLastIndex(({ kind }) => kind === 'close')
  const tail = contents.entries.slice(Math.max(lastEnd, 0))
  let state: SessionState | undefined
  const writeState = (next: SessionState): void => {
    if (next !== state) response.write(formatEvent('state', { state: next }))
    state = next
  }
  try {
    for (const entry of contents.entries) if (entry.seq > after) await writeEntry(response, entry, signal)
    writeState(getState(contents, messages))
    const last = Math.max(after, contents.entries.at(-1)?.seq ?? 0)
    for await (const entry of backend.getStore(key.tenant).follow(key.session, { after: last, signal })) {
      await writeEntry(response, entry, signal)
      tail.push(entry)
      writeState(getState({ ...contents, entries: tail }))
      // What is before the end of a run does not matter for the state.
      if (entry.kind === 'close') tail.splice(0, tail.length - 1)
    }
  } finally {
    live.stop()
    clearInterval(keepAlive)
  }
}

const KEEP_ALIVE_MS = 15_000
/** How long a client may read nothing while there is something to read. */
const STALLED_MS = 120_000

async function writeEntry(response: ServerResponse, entry: Entry, signal: AbortSignal): Promise<void> {
  const text = `id: ${entry.seq}\n${formatEvent('entry', entry as unknown as JsonObject)}`
  if (signal.aborted || response.write(text)) return
  await new Promise<void>((resolve) => {
    // It would hold the entries of the session for ever. Who comes back goes on where it was.
    const stalled = setTimeout(() => response.destroy(), STALLED_MS)
    const done = (): void => {
      clearTimeout(stalled)
      response.off('drain', done)
      response.off('close', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    response.once('drain', done)
    response.once('close', done)
    signal.addEventListener('abort', done, { once: true })
  })
}

/** JSON has no line breaks of its own. */
function formatEvent(name: string, data: JsonObject): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
