import { defined } from '../../model/defined.ts'
import { fold } from '../../model/fold.ts'
import type { TurnEvent } from '../../model/event.ts'
import type { ModelRequest } from '../../model/request.ts'
import { createRedactor } from '../../model/security/redactor.ts'
import type { AssistantTurn, WireId } from '../../model/turn.ts'
import { createModel, type Endpoint, withAdaptation } from '../../provider/index.ts'
import { createReplayClient, type OmittedExchange, type RecordedExchange } from '../../provider/recording.ts'
import type { Wire } from '../../wire/wire.ts'
import type { Exchange, ExchangeBodies } from '../exchange-log.ts'
import { restoreNativeData } from '../native/restore-native-data.ts'
import type { Upstreams } from '../upstream.ts'
import { decodeResponseBody, tryReadRequest } from './decode-body.ts'

interface ExportOptions {
  readonly wires: Readonly<Record<WireId, Wire>>
  readonly upstreams: Pick<Upstreams, 'find'>
  readonly envelopeKey: Uint8Array
}

interface ExportedExchange {
  readonly exchange: Exchange
  readonly bodies: ExchangeBodies
}

/** A line of a recording; the command has the type of all. */
type Line = Readonly<Record<string, unknown>>

/** A recording in one file, as `dragoman replay` reads it. What was sent is compared with what this version would send. */
export async function exportExchanges(chosen: readonly ExportedExchange[], options: ExportOptions): Promise<string> {
  const lines: Line[] = [{ kind: 'start', dragoman: 'gateway' }]
  const exchanges: (RecordedExchange | OmittedExchange)[] = []
  const endpoints = new Set<string>()
  let session: string | undefined
  for (const one of chosen) {
    const { provider, upstreamModel } = one.exchange
    const attempt = one.bodies.upstream.at(-1)
    if (!attempt || provider === undefined || upstreamModel === undefined || one.bodies.isCut) continue
    const name = `${provider}/${upstreamModel}`
    const upstream = await options.upstreams.find(name)
    if ('problem' in upstream) continue
    const { endpoint } = upstream
    if (session !== one.exchange.session || session === undefined) {
      session = one.exchange.session ?? String(one.exchange.id)
      lines.push({ kind: 'session', id: session, folder: '' })
    }
    if (!endpoints.has(name)) lines.push(createModelLine(endpoint))
    endpoints.add(name)
    lines.push({ kind: 'chosen', models: [name] })
    const recorded = toRecordedExchange(one.bodies, exchanges.length + 1)
    exchanges.push(recorded)
    const key = `x${one.exchange.id}`
    const { ask, turn } = await createAsk(one, recorded, endpoint, key, options)
    lines.push({ kind: 'ask', key, ...ask })
    const entry = {
      kind: 'turn',
      seq: exchanges.length,
      at: one.exchange.started,
      turn,
      prompt: '',
      ms: one.exchange.totalMs ?? 0,
    }
    if (turn) lines.push({ kind: 'entry', entry })
  }
  return `${JSON.stringify({ recording: 1, lines, exchanges })}\n`
}

function createModelLine({ provider, model, baseUrl, credential, project, location }: Endpoint): Line {
  return { kind: 'model', row: provider, model, baseUrl, ...defined({ style: credential?.style, project, location }) }
}

/** The last attempt. */
function toRecordedExchange({ upstream, request, response }: ExchangeBodies, number: number): RecordedExchange {
  const attempt = upstream.at(-1)
  const { status, responseHeaders: headers = {} } = attempt ?? {}
  return {
    number,
    request: {
      method: 'POST',
      url: attempt?.url ?? '',
      headers: attempt?.requestHeaders ?? {},
      body: attempt?.request ?? request,
    },
    ...(status !== undefined && {
      response: { status, headers, chunks: [{ ms: 0, text: attempt?.response ?? response }] },
    }),
    ...(attempt?.error !== undefined && { error: { message: attempt.error } }),
  }
}

interface Ask {
  readonly ask: Line
  readonly turn: AssistantTurn | undefined
}

/** A translated request is translated again in a replay; any other one is only sent and read. */
async function createAsk(
  one: ExportedExchange,
  recorded: RecordedExchange,
  endpoint: Endpoint,
  key: string,
  options: ExportOptions,
): Promise<Ask> {
  const { exchange, bodies } = one
  const isTranslated =
    exchange.mode === 'translated' && exchange.attempts === 1 && (recorded.response?.status ?? 500) < 300
  const request = isTranslated ? readTranslatedRequest(one, options) : undefined
  if (request) return { ask: { request }, turn: await answerFrom(recorded, endpoint, request, key) }
  const { url, headers, body } = recorded.request
  const wire = options.wires[endpoint.wire]
  const origin = { provider: endpoint.provider.id, wire: endpoint.wire, model: endpoint.model }
  const turn = decodeResponseBody(wire, {
    origin,
    turnKey: key,
    tools: [],
    status: recorded.response?.status ?? 500,
    headers: recorded.response?.headers ?? {},
    text: bodies.upstream.at(-1)?.response ?? bodies.response,
  })?.turn
  return { ask: { forwarded: { url, headers, body } }, turn }
}

function readTranslatedRequest(
  { exchange, bodies }: ExportedExchange,
  { wires, envelopeKey }: ExportOptions,
): ModelRequest | undefined {
  const read = tryReadRequest(wires[exchange.wire], bodies.request)
  if (!read) return undefined
  const { request } = restoreNativeData(read, { wire: exchange.wire, key: envelopeKey })
  return { ...request, model: exchange.model, params: { ...request.params, stream: exchange.isStream } }
}

/** The turn that this version reads from the recorded response. */
async function answerFrom(
  recorded: RecordedExchange,
  endpoint: Endpoint,
  request: ModelRequest,
  turnKey: string,
): Promise<AssistantTurn> {
  const httpClient = createReplayClient([recorded], createRedactor(), () => undefined)
  const model = withAdaptation(endpoint, (adapted) => createModel(adapted, { httpClient }))
  const events: TurnEvent[] = []
  for await (const event of model.stream(request, { turnKey })) events.push(event)
  return fold(events, model.origin).turn
}
