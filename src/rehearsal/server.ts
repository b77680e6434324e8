import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WireId } from '../model/turn.ts'
import { loadWire, wireIds } from '../wire/wires.ts'
import type { Wire } from '../wire/wire.ts'
import { answerRequest, type Stage } from './answer-request.ts'
import { deliver, jsonDelivery } from './deliver.ts'
import type { Values } from './fill.ts'
import type { Failure, Recorded } from './record.ts'
import type { Script } from './script.ts'

/** How a rehearsal is started. */
export interface RehearsalOptions {
  /** The scripts by name. A model `rehearsal/<name>`, or just `<name>`, plays one. */
  readonly scripts: Readonly<Record<string, Script>>
  readonly host?: string
  /** 0 takes any free port. */
  readonly port?: number
  /** The script for models of any other name, so that a test can use the names of real models. */
  readonly fallback?: string
  /** Values that scripts use as `{name}`, for example `cwd`. */
  readonly values?: Values
  /** Overrides the pace of all scripts; 0 sends every answer at once. */
  readonly pace?: number
  /** Records nothing, checks nothing, and reads no more of a request than it must: for very long sessions. */
  readonly light?: boolean
  /** How many requests and failures are kept; the oldest go first. */
  readonly keep?: number
  /** Hears when a request begins to come in, and when its answer has gone out: for measurements. */
  readonly watch?: (moment: 'asked' | 'answered') => void
}

/** A running rehearsal. */
export interface Rehearsal {
  /** Where it listens; any vendor's path may follow. */
  readonly url: string
  /** The requests so far, oldest first. */
  readonly requests: readonly Recorded[]
  /** What was not as it should be, oldest first. */
  readonly failures: readonly Failure[]
  /** How many requests came in all. */
  readonly count: () => number
  /** Hangs up on everybody, and comes back when nothing is left open. */
  close(): Promise<void>
}

/** Starts the scripted model on a loopback address. */
export async function startRehearsal(options: RehearsalOptions): Promise<Rehearsal> {
  const stage = await setStage(options)
  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    options.watch?.('asked')
    if (options.watch) response.once('finish', () => options.watch?.('answered'))
    serve(stage, request, response).catch(() => response.destroy())
  })
  const host = options.host ?? '127.0.0.1'
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(options.port ?? 0, host, done)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    requests: stage.requests,
    failures: stage.failures,
    count: () => stage.counts.all,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

async function setStage(options: RehearsalOptions): Promise<Stage> {
  const wires = await Promise.all(wireIds.map(async (id) => [id, await loadWire(id)] as const))
  return {
    scripts: new Map(Object.entries(options.scripts)),
    fallback: options.fallback,
    values: options.values ?? {},
    pace: options.pace,
    light: options.light ?? false,
    keep: options.keep ?? 10_000,
    wires: Object.fromEntries(wires) as Record<WireId, Wire>,
    requests: [],
    failures: [],
    counts: { all: 0, scripts: new Map(), attempts: new Map() },
  }
}

async function serve(stage: Stage, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => undefined)
  try {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    await deliver(response, answerRequest(stage, request, chunks))
  } catch (error) {
    // A client that hung up is no fault of the script; anything else must be seen by whoever asked.
    if (request.destroyed && !request.complete) return
    const message = `The rehearsal itself failed: ${error instanceof Error ? error.message : String(error)}`
    stage.failures.push({ request: stage.counts.all, wire: undefined, script: undefined, sentence: message })
    if (response.headersSent) response.destroy()
    else await deliver(response, jsonDelivery(500, { error: { message, type: 'server_error' } }))
  }
}
