import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WireId } from '../model/turn.ts'
import { createRedactor } from '../model/security/redactor.ts'
import { defined } from '../model/defined.ts'
import { loadWire, wireIds } from '../wire/wires.ts'
import type { Wire } from '../wire/wire.ts'
import { captureUpstream } from './capture-upstream.ts'
import { createExchangeLog, type ExchangeLog } from './exchange-log.ts'
import { type GatewayContext, handleGatewayRequest } from './handle-request.ts'
import { createLimits, type DailySpending, type PriceCalculator } from './limits.ts'
import { createGatewaySource } from './inspector/gateway-source.ts'
import { createRoutingTable, type GatewayRoute } from './routing-table.ts'
import { createUpstreams, type UpstreamOptions } from './upstream.ts'
import { getSharedHttpClient } from '../provider/index.ts'

export interface GatewayOptions extends UpstreamOptions {
  /** The default is this machine only. */
  readonly host?: string
  /** 0 means any free port. */
  readonly port?: number
  /** What clients must send; a random one if absent. */
  readonly token?: string
  readonly routes?: readonly GatewayRoute[]
  /** `provider/model` for everything that has no route; a list is for fallback. */
  readonly model?: string
  /** Authenticates native data that travels through clients; with another key it is ignored. */
  readonly envelopeKey: Uint8Array
  /** The providers that get the client's own key, if it sends one besides the token. */
  readonly passKeys?: readonly string[]
  readonly price?: PriceCalculator
  /** US dollars per day for all clients together. */
  readonly maxCostPerDay?: number
  /** Where spending is kept; in memory if absent. */
  readonly spending?: DailySpending
  /** The client of requests without a User-Agent. */
  readonly client?: string
  /** In tokens, by `provider/model`, for clients that must know it. */
  readonly getContextWindow?: (model: string) => number | undefined
  /** Removes secrets from what the log shows. */
  readonly redact?: (text: string) => string
}

export interface Gateway {
  /** Any vendor's path may follow. */
  readonly url: string
  readonly token: string
  readonly log: ExchangeLog
  /** Closes all connections. */
  close(): Promise<void>
}

/** Starts a server that speaks the APIs of all vendors, and answers by models of any. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { host = '127.0.0.1', token = randomBytes(24).toString('base64url') } = options
  const context = await createContext(options, host, token)
  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    response.on('error', () => undefined)
    handleGatewayRequest(context, request, response).catch(() => response.destroy())
  })
  // Models may think for long before they answer.
  server.requestTimeout = 0
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(options.port ?? 0, host, done)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    token,
    log: context.log,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

async function createContext(options: GatewayOptions, host: string, token: string): Promise<GatewayContext> {
  const wires = await Promise.all(wireIds.map(async (id) => [id, await loadWire(id)] as const))
  const redactor = createRedactor([token])
  const redactMore = options.redact ?? ((text: string) => text)
  const { price = () => undefined, maxCostPerDay } = options
  const log = createExchangeLog({ redact: (text) => redactMore(redactor.redact(text)) })
  const wireById = Object.fromEntries(wires) as Record<WireId, Wire>
  const httpClient = captureUpstream(options.httpClient ?? getSharedHttpClient())
  const upstreams = createUpstreams({ ...options, httpClient })
  return {
    host,
    token,
    wires: wireById,
    table: createRoutingTable(options.routes ?? [], options.model),
    upstreams,
    limits: createLimits(price, options.spending),
    log,
    inspected: createGatewaySource({ log, wires: wireById, price, upstreams, envelopeKey: options.envelopeKey }),
    price,
    ...defined({ client: options.client }),
    getContextWindow: options.getContextWindow ?? (() => undefined),
    envelopeKey: options.envelopeKey,
    passKeys: options.passKeys ?? [],
    ...defined({ maxCostPerDay }),
  }
}
