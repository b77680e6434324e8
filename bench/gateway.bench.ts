import { createServer, request as httpRequest, Agent, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Gateway, startGateway } from '../src/gateway/gateway.ts'
import { parseProvider, resolveModel } from '../src/provider/index.ts'
import { median } from './support/measure.ts'
import { type BenchmarkRow, reportTable } from './support/report.ts'

const ROUNDS = 300
const CHUNKS = 20_000
const STREAMS = 200
const REQUESTS = 10_000
/** After these, the log of exchanges is full. */
const WARM_UP = 2000
const TOKEN = 'token-of-the-benchmark-1'

const text = (content: string) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`
const END = `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`
const LONG = Array.from({ length: CHUNKS }, (_none, at) => text(`word${at} `))

/** Answers at once: one word, or many chunks if the body says so. */
async function startUpstream(): Promise<Server> {
  const server = createServer((incoming, response) => {
    let body = ''
    incoming.setEncoding('utf8').on('data', (piece: string) => (body += piece))
    incoming.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      void write(response, body.includes('LONG') ? LONG : [text('Hello.')])
    })
  })
  async function write(response: import('node:http').ServerResponse, pieces: readonly string[]): Promise<void> {
    for (const piece of pieces)
      if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve))
    response.end(END)
  }
  return listen(server)
}

/** The least that a proxy can do. */
function startBareProxy(port: number): Promise<Server> {
  const agent = new Agent({ keepAlive: true })
  return listen(
    createServer((incoming, response) => {
      const outgoing = httpRequest(
        { port, host: '127.0.0.1', path: incoming.url, method: incoming.method, headers: incoming.headers, agent },
        (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(response)
        },
      )
      incoming.pipe(outgoing)
    }),
  )
}

async function listen(server: Server): Promise<Server> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return server
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

function startTestGateway(port: number): Promise<Gateway> {
  const parsed = parseProvider('up', { wire: 'openai-chat', url: `http://127.0.0.1:${port}/v1`, keys: ['K'] })
  if ('problem' in parsed) throw new Error(parsed.problem)
  return startGateway({
    token: TOKEN,
    envelopeKey: Buffer.alloc(32, 1),
    model: 'up/m',
    resolveModel: (name) => resolveModel(name, { K: 'key-of-the-benchmark-1' }, [parsed.provider]),
  })
}

const BODIES = {
  chat: (word: string) => ({
    path: '/v1/chat/completions',
    body: { model: 'm', stream: true, messages: [{ role: 'user', content: word }] },
  }),
  anthropic: (word: string) => ({
    path: '/v1/messages',
    body: { model: 'm', stream: true, max_tokens: 100, messages: [{ role: 'user', content: word }] },
  }),
}

const agent = new Agent({ keepAlive: true, maxSockets: 1000 })

/** Milliseconds to the first byte of the body, and to the end. */
function ask(url: string, { path, body }: { path: string; body: unknown }): Promise<{ first: number; bytes: number }> {
  return new Promise((done, fail) => {
    const started = performance.now()
    const bytes = JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(bytes),
    }
    const outgoing = httpRequest(url + path, { method: 'POST', headers, agent }, (response) => {
      let first = 0
      let length = 0
      response.on('data', (piece: Buffer) => {
        first ||= performance.now() - started
        length += piece.length
      })
      response.on('end', () => done({ first, bytes: length }))
      response.on('error', fail)
    })
    outgoing.on('error', fail)
    outgoing.end(bytes)
  })
}

/** How many megabytes the heap has grown by after many requests on the same API and translated. */
async function measureGrowth(url: string): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  let sizeBefore = 0
  for (let at = 0; at < REQUESTS; at += BATCH) {
    if (at === WARM_UP) {
      collectGarbage()
      sizeBefore = process.memoryUsage().heapUsed
    }
    const make = (at / BATCH) % 2 === 0 ? BODIES.chat : BODIES.anthropic
    await Promise.all(Array.from({ length: BATCH }, () => ask(url, make('Hi'))))
  }
  collectGarbage()
  return (process.memoryUsage().heapUsed - sizeBefore) / 2 ** 20
}

const BATCH = 50

async function main(): Promise<void> {
  const upstream = await startUpstream()
  const bare = await startBareProxy(portOf(upstream))
  const gateway = await startTestGateway(portOf(upstream))
  const direct = `http://127.0.0.1:${portOf(upstream)}`
  const ways = [
    { name: 'bare', url: `http://127.0.0.1:${portOf(bare)}`, make: BODIES.chat },
    { name: 'same', url: gateway.url, make: BODIES.chat },
    { name: 'translated', url: gateway.url, make: BODIES.anthropic },
  ] as const
  const first = ways.map((): number[] => [])
  for (let round = -10; round < ROUNDS; round++)
    for (const [at, { url, make }] of ways.entries()) {
      const { first: ms } = await ask(url, make('Hi'))
      if (round >= 0) first[at]?.push(ms)
    }
  // The difference of each round: a busy moment of the machine hits all ways of a round.
  const [bareTimes = [], ...others] = first
  const [sameMs = 0, translatedMs = 0] = others.map((times) => median(times.map((ms, at) => ms - (bareTimes[at] ?? 0))))
  // All run in this process, so what client and upstream need by themselves is taken off.
  const longWays = [{ url: direct, make: BODIES.chat }, ...ways]
  const cpu = longWays.map((): number[] => [])
  for (let round = -1; round < 15; round++)
    for (const [at, { url, make }] of longWays.entries()) {
      const before = process.cpuUsage()
      await ask(url, make('LONG'))
      const { user, system } = process.cpuUsage(before)
      if (round >= 0) cpu[at]?.push((user + system) / 1000)
    }
  const [directCpu = 0, bareWhole = 1, , translatedWhole = 1] = cpu.map(median)
  const [bareCpu, translatedCpu] = [bareWhole - directCpu, translatedWhole - directCpu]
  const startedAll = performance.now()
  const all = await Promise.all(Array.from({ length: STREAMS }, () => ask(gateway.url, BODIES.anthropic('Hi'))))
  const allMs = performance.now() - startedAll
  const complete = all.filter(({ bytes }) => bytes > 0).length
  const growth = await measureGrowth(gateway.url)
  const rows: BenchmarkRow[] = [
    {
      label: 'first byte on the same API, added to a bare proxy, against 3 ms',
      figures: `${sameMs.toFixed(2)} ms`,
      ratio: sameMs / 3,
      maxRatio: 1,
    },
    {
      label: 'first byte translated, added to a bare proxy, against 10 ms',
      figures: `${translatedMs.toFixed(2)} ms`,
      ratio: translatedMs / 10,
      maxRatio: 1,
    },
    {
      label: `${CHUNKS} chunks translated, against a bare proxy (processor time)`,
      figures: `${translatedCpu.toFixed(0)} ms against ${bareCpu.toFixed(0)} ms`,
      ratio: translatedCpu / bareCpu,
      maxRatio: 1.5,
    },
    {
      label: `${STREAMS} translated streams at once: unfinished ones`,
      figures: `${complete} of ${STREAMS} in ${allMs.toFixed(0)} ms`,
      ratio: STREAMS - complete,
      maxRatio: 0,
    },
    {
      label: `memory after ${REQUESTS} requests, added to that after ${WARM_UP}, against 8 MB`,
      figures: `${growth.toFixed(1)} MB`,
      ratio: Math.max(0, growth) / 8,
      maxRatio: 1,
    },
  ]
  reportTable(
    'gateway',
    'Another agent through the gateway, against a bare proxy of Node `http` in the same run.',
    rows,
  )
  agent.destroy()
  bare.close()
  bare.closeAllConnections()
  upstream.close()
  upstream.closeAllConnections()
  await gateway.close()
}

await main()
