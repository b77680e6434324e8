import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WireId } from '../model/turn.ts'
import { loadWire, wireIds } from '../wire/wires.ts'
import type { Wire } from '../wire/wire.ts'
import { handleRehearsalRequest, type RehearsalState } from './handle-request.ts'
import { sendResponse, planJsonResponse } from './response/send-response.ts'
import type { TemplateValues } from './script/fill-template.ts'
import type { RehearsalFailure, RecordedRequest } from './request/recorded-request.ts'
import type { RehearsalScript, ScriptStep } from './script/script.ts'
import { getErrorMessage } from '../model/error-message.ts'

export interface RehearsalOptions {
  /** A model `rehearsal/<name>` or `<name>` plays the script. */
  readonly scripts: Readonly<Record<string, RehearsalScript>>
  readonly host?: string
  /** 0 means any free port. */
  readonly port?: number
  /** The script for all other model names, so that a test can use names of real models. */
  readonly fallbackScript?: string
  /** Values for `{name}` in scripts, for example `cwd`. */
  readonly templateValues?: TemplateValues
  /** Overrides the pace of all scripts; 0 sends every response at once. */
  readonly paceMs?: number
  /** Records and checks nothing, and parses no more than necessary: for very long sessions. */
  readonly isLightweight?: boolean
  /** A request for which no step is left is a failure. Without it, the response says so. */
  readonly isStrict?: boolean
  /** How many requests and failures are kept. */
  readonly maxRecords?: number
  /** For measurements: a request starts to come in, or its response has been sent. */
  readonly onTraffic?: (moment: 'asked' | 'answered') => void
}

export interface RehearsalServer {
  /** Any vendor's path may follow. */
  readonly url: string
  /** Oldest first. */
  readonly requests: readonly RecordedRequest[]
  /** Oldest first. */
  readonly failures: readonly RehearsalFailure[]
  readonly countRequests: () => number
  /** How many responses each step has given. */
  readonly stepCounts: ReadonlyMap<ScriptStep, number>
  /** Closes all connections. */
  close(): Promise<void>
}

export async function startRehearsalServer(options: RehearsalOptions): Promise<RehearsalServer> {
  const state = await createRehearsalState(options)
  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    options.onTraffic?.('asked')
    if (options.onTraffic) response.once('finish', () => options.onTraffic?.('answered'))
    serveRequest(state, request, response).catch(() => response.destroy())
  })
  const host = options.host ?? '127.0.0.1'
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(options.port ?? 0, host, done)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    requests: state.requests,
    failures: state.failures,
    countRequests: () => state.counters.all,
    stepCounts: state.counters.steps,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

/** What a scripted model needs to answer requests, over HTTP or not. */
export async function createRehearsalState(options: RehearsalOptions): Promise<RehearsalState> {
  const wires = await Promise.all(wireIds.map(async (id) => [id, await loadWire(id)] as const))
  return {
    scripts: new Map(Object.entries(options.scripts)),
    fallbackScript: options.fallbackScript,
    templateValues: options.templateValues ?? {},
    paceMs: options.paceMs,
    isLightweight: options.isLightweight ?? false,
    isStrict: options.isStrict ?? false,
    maxRecords: options.maxRecords ?? 10_000,
    wires: Object.fromEntries(wires) as Record<WireId, Wire>,
    requests: [],
    failures: [],
    counters: { all: 0, scripts: new Map(), attempts: new Map(), steps: new Map() },
  }
}

async function serveRequest(state: RehearsalState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => undefined)
  try {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    await sendResponse(response, handleRehearsalRequest(state, request, chunks))
  } catch (error) {
    // A disconnected client is no failure of the script; the client must see anything else.
    if (request.destroyed && !request.complete) return
    const message = `Internal error in the rehearsal server: ${getErrorMessage(error)}`
    state.failures.push({ requestNumber: state.counters.all, wire: undefined, script: undefined, message })
    if (response.headersSent) response.destroy()
    else await sendResponse(response, planJsonResponse(500, { error: { message, type: 'server_error' } }))
  }
}
