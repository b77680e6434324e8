import type { IncomingMessage, ServerResponse } from 'node:http'
import { getErrorMessage } from '../../model/error-message.ts'
import { checkAccess, checkHostAndOrigin } from '../access.ts'
import { createExchangeReader, type ExchangeReader } from './describe-exchange.ts'
import type { TextSlice } from './inspected-exchange.ts'
import type { InspectorSource } from './inspector-source.ts'
import { readPageFile } from './page-files.ts'

export interface InspectorContext {
  readonly source: InspectorSource
  readonly token: string
  /** The address that the server listens on. */
  readonly host: string
}

/** Nothing but our own files runs or is loaded: what models and clients wrote is only ever text. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
}

/** Serves the page and its data. The page itself contains no data, so only the data needs the token. */
export async function handleInspectorRequest(
  context: InspectorContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const send = (status: number, type: string, content: string | Buffer): void =>
    void response.writeHead(status, { ...SECURITY_HEADERS, 'content-type': type }).end(content)
  const sendJson = (status: number, value: unknown): void =>
    send(status, 'application/json; charset=utf-8', JSON.stringify(value))
  const place = checkHostAndOrigin(request.headers, context.host)
  if (place) return sendJson(place.status, { error: place.message })
  if (request.method !== 'GET' && request.method !== 'HEAD') return sendJson(405, { error: 'Use GET.' })
  const path = pathname.replace(/^\/inspector\/?/, '')
  if (!path.startsWith('api/')) {
    const file = await readPageFile(path)
    return file ? send(200, file.type, file.content) : sendJson(404, { error: 'Unknown path.' })
  }
  // A token in the query would be in histories and logs.
  const access = checkAccess({ headers: request.headers, url: '' }, context)
  if ('status' in access) return sendJson(access.status, { error: access.message })
  if (path === 'api/events') return sendEvents(context.source, request, response)
  try {
    const value = await answer(context.source, path.slice('api/'.length).split('/'), searchParams)
    if (value === undefined) sendJson(404, { error: 'There is no such exchange any more.' })
    else sendJson(200, value)
  } catch (error) {
    sendJson(500, { error: getErrorMessage(error) })
  }
}

const readers = new WeakMap<InspectorSource, ExchangeReader>()

function getReader(source: InspectorSource): ExchangeReader {
  const reader = readers.get(source) ?? createExchangeReader(source)
  readers.set(source, reader)
  return reader
}

async function answer(source: InspectorSource, path: readonly string[], query: URLSearchParams): Promise<unknown> {
  const [resource, name = '', part, piece] = path
  const reader = getReader(source)
  if (resource === 'search') return { ids: source.search(query.get('q') ?? '') }
  if (resource === 'export') {
    const ids = (query.get('ids') ?? '').split(',').map(Number)
    return { recording: await source.exportRecording(ids) }
  }
  if (resource !== 'exchanges') return undefined
  if (name === '') return { kind: source.kind, title: source.title, exchanges: source.list() }
  const id = Number(name)
  const exchange = source.get(id)
  if (!exchange) return undefined
  if (part === undefined) return reader.readDetail(id)
  if (part === 'growth') return { points: reader.readGrowth(id) }
  if (part === 'blocks') return slice(reader.readBlock(id, Number(piece)), query)
  if (part === 'bodies') return slice(reader.readBodies(exchange)[Number(piece)]?.text, query)
  return undefined
}

/** A long text is sent in pieces. */
function slice(text: string | undefined, query: URLSearchParams): TextSlice | undefined {
  if (text === undefined) return undefined
  const from = Math.max(0, Math.trunc(Number(query.get('from') ?? 0)) || 0)
  const length = Math.trunc(Number(query.get('length') ?? MAX_SLICE_CHARS)) || MAX_SLICE_CHARS
  return { text: text.slice(from, from + Math.min(length, MAX_SLICE_CHARS)), from, total: text.length }
}

const MAX_SLICE_CHARS = 128 * 1024

/** Each change of an exchange, until the page is closed. */
function sendEvents(source: InspectorSource, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { ...SECURITY_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' })
  response.write(': open\n\n')
  const end = source.subscribe((exchange) => {
    // A page that does not read misses what happens meanwhile; it loads the list when it comes back.
    if (response.writableLength > MAX_WAITING_BYTES) response.destroy()
    else response.write(`event: exchange\ndata: ${JSON.stringify(exchange)}\n\n`)
  })
  const beat = setInterval(() => response.write(': alive\n\n'), KEEP_ALIVE_MS)
  beat.unref()
  request.once('close', () => {
    clearInterval(beat)
    end()
  })
}

const KEEP_ALIVE_MS = 15_000
const MAX_WAITING_BYTES = 8 * 2 ** 20
