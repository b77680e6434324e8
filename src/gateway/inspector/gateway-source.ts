import { defined } from '../../model/defined.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { AssistantTurn, ModelOrigin, WireId } from '../../model/turn.ts'
import type { Wire } from '../../wire/wire.ts'
import type { Exchange, ExchangeBodies, ExchangeLog } from '../exchange-log.ts'
import type { PriceCalculator } from '../limits.ts'
import type { Upstreams } from '../upstream.ts'
import { decodeResponseBody, tryReadRequest } from './decode-body.ts'
import type { Block, InspectedBody, InspectedExchange } from './inspected-exchange.ts'
import type { InspectedContent, InspectorSource } from './inspector-source.ts'
import { listRequestBlocks } from './list-blocks.ts'
import { collectResults } from './list-calls.ts'
import { exportExchanges } from './export-exchanges.ts'

interface GatewaySourceOptions {
  readonly log: ExchangeLog
  readonly wires: Readonly<Record<WireId, Wire>>
  readonly price: PriceCalculator
  readonly upstreams: Pick<Upstreams, 'find'>
  readonly envelopeKey: Uint8Array
}

/** The exchanges of a gateway. */
export function createGatewaySource({
  log,
  wires,
  price,
  upstreams,
  envelopeKey,
}: GatewaySourceOptions): InspectorSource {
  return {
    kind: 'gateway',
    title: 'Gateway',
    list: () => log.list().map(withPurpose),
    get(id) {
      const exchange = log.get(id)
      return exchange && withPurpose(exchange)
    },
    readContent(id) {
      const [exchange, bodies] = [log.get(id), log.readBodies(id)]
      return exchange && bodies && readGatewayContent(exchange, bodies, wires)
    },
    readBodies(id) {
      const [exchange, bodies] = [log.get(id), log.readBodies(id)]
      return exchange && bodies ? listBodies(exchange, bodies) : []
    },
    search: (text) => log.search(text),
    price(exchange, usage) {
      const origin = getOrigin(exchange)
      return origin && price(origin, usage)
    },
    async exportRecording(ids) {
      const chosen = ids.flatMap((id) => {
        const [exchange, bodies] = [log.get(id), log.readBodies(id)]
        return exchange && bodies ? [{ exchange, bodies }] : []
      })
      return exportExchanges(chosen, { wires, upstreams, envelopeKey })
    },
    subscribe: (listener) => log.subscribe((exchange) => listener(withPurpose(exchange))),
  }
}

function withPurpose(exchange: Exchange): InspectedExchange {
  const isCount = /count_?tokens$/i.test(exchange.path)
  return isCount ? { ...exchange, purpose: 'count tokens' } : exchange
}

export function getOrigin({ provider, upstreamModel, upstreamWire }: InspectedExchange): ModelOrigin | undefined {
  if (provider === undefined || upstreamModel === undefined || upstreamWire === undefined) return undefined
  return { provider, model: upstreamModel, wire: upstreamWire }
}

function readGatewayContent(
  exchange: Exchange,
  bodies: ExchangeBodies,
  wires: Readonly<Record<WireId, Wire>>,
): InspectedContent {
  const wire = wires[exchange.wire]
  const request = tryReadRequest(wire, bodies.request)
  const origin = { provider: exchange.client, wire: exchange.wire, model: exchange.model }
  const common = { turnKey: 'inspected', tools: request?.tools ?? [] }
  const status = exchange.status ?? 200
  const answer = decodeResponseBody(wire, {
    ...common,
    origin,
    status,
    headers: bodies.responseHeaders,
    text: bodies.response,
  })
  return {
    blocks: request ? listRequestBlocks({ ...request, model: exchange.model }) : [toUnreadBlock(bodies.request)],
    results: collectResults(request?.turns ?? []),
    ...defined({ answer: answer?.turn, modelAnswer: decodeUpstream(exchange, bodies, wires, common) }),
    ...(bodies.isCut && { remark: 'The bodies are too long to keep: only their beginning is shown.' }),
  }
}

function decodeUpstream(
  { upstreamWire }: Exchange,
  { upstream }: ExchangeBodies,
  wires: Readonly<Record<WireId, Wire>>,
  common: { readonly turnKey: string; readonly tools: ModelRequest['tools'] },
): AssistantTurn | undefined {
  const last = upstream.at(-1)
  if (upstreamWire === undefined || last?.response === undefined || last.status === undefined) return undefined
  const origin = { provider: '', wire: upstreamWire, model: '' }
  const { status, responseHeaders: headers = {}, response: text } = last
  return decodeResponseBody(wires[upstreamWire], { ...common, origin, status, headers, text })?.turn
}

function toUnreadBlock(text: string): Block {
  return { kind: 'other', label: 'Body', text }
}

function listBodies(exchange: Exchange, bodies: ExchangeBodies): InspectedBody[] {
  const { upstream, isCut } = bodies
  const cut = isCut ? { isCut } : {}
  const isOfClient = { ...cut, headers: bodies.requestHeaders }
  return [
    { side: 'client-request', note: `POST ${exchange.path}`, text: bodies.request, ...isOfClient },
    ...upstream.flatMap((one, at): InspectedBody[] => {
      const attempt = at + 1
      const outcome = one.error ?? (one.status === undefined ? 'no response' : `HTTP ${one.status}`)
      const request = one.request ?? bodies.request
      const isRequestSame = one.request === undefined && { isSame: true }
      const isResponseSame = one.response === undefined && one.status !== undefined && { isSame: true }
      return [
        {
          side: 'upstream-request',
          attempt,
          note: `POST ${one.url}`,
          headers: one.requestHeaders,
          text: request,
          ...isRequestSame,
          ...cut,
        },
        {
          side: 'upstream-response',
          attempt,
          note: outcome,
          headers: one.responseHeaders ?? {},
          text: one.response ?? (one.status === undefined ? '' : bodies.response),
          ...isResponseSame,
          ...cut,
        },
      ]
    }),
    {
      side: 'client-response',
      note: exchange.status === undefined ? 'no response yet' : `HTTP ${exchange.status}`,
      headers: bodies.responseHeaders,
      text: bodies.response,
      ...cut,
    },
  ]
}
