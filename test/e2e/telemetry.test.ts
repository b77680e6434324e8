import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { agent } from '../../src/agent/library/create-agent.ts'
import { withRetry } from '../../src/provider/middleware/retry.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { dragoman, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'
import { modelOn } from '../support/stage.ts'

interface WrittenSpan {
  readonly name: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status?: { code?: number }
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[]
}

interface Delivery {
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** A collector on this machine, which keeps what it gets. */
async function collector() {
  const got: Delivery[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece: Buffer) => (text += piece.toString()))
    request.on('end', () => {
      got.push({ path: request.url ?? '', headers: request.headers, text })
      response.setHeader('content-type', 'application/json')
      response.end('{}')
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function spansIn(got: readonly Delivery[]): WrittenSpan[] {
  return got.flatMap(({ text }) => {
    const { resourceSpans } = JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: WrittenSpan[] }[] }[] }
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
  })
}

/** The attributes of a span as plain values. */
function plain(span: WrittenSpan | undefined): Record<string, unknown> {
  return Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]))
}

const STEPS = [
  {
    say: 'Secret words.',
    call: [
      { name: 'write_file', args: { file_path: '{cwd}/hidden.txt', content: 'sesame\nopen\n' } },
      { name: 'run_shell_command', args: { command: 'echo forbidden > made.txt' } },
    ],
    usage: { input: 100, cacheRead: 40, output: 7, reasoning: 0 },
  },
  { say: 'All done.', usage: { input: 10, output: 2 } },
]

describe('telemetry', () => {
  test('a real run arrives as spans: the run, its requests, its calls; without a word of what was said', async () => {
    const here = await stage(STEPS)
    const { got, url } = await collector()
    const env = { ...here.env, OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_HEADERS: 'x-team=blue' }
    const { code, err } = await dragoman(['-p', 'my private wish', '--allowed-tools', 'write_file'], { ...here, env })
    assert.equal(code, 0, err)
    assert.deepEqual([...new Set(got.map(({ path }) => path))], ['/v1/traces'])
    assert.equal(got[0]?.headers['x-team'], 'blue')
    const spans = spansIn(got)
    assert.deepEqual(spans.map(({ name }) => name).sort(), [
      'chat script',
      'chat script',
      'execute_tool run_shell_command',
      'execute_tool write_file',
      'invoke_agent dragoman',
    ])
    const run = spans.find(({ name }) => name.startsWith('invoke_agent'))
    for (const span of spans) {
      assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), span.name)
      if (span !== run) assert.equal(span.parentSpanId, run?.spanId, span.name)
    }

    const whole = plain(run)
    assert.equal(whole['gen_ai.operation.name'], 'invoke_agent')
    assert.match(String(whole['dragoman.prompt.id']), /#1$/)
    assert.equal(whole['dragoman.prompt.length'], 'my private wish'.length)
    assert.equal(whole['dragoman.run.reason'], 'done')

    const [first] = spans
      .filter(({ name }) => name === 'chat script')
      .sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)))
    const asked = plain(first)
    assert.equal(asked['gen_ai.provider.name'], 'openai')
    assert.equal(asked['gen_ai.request.model'], 'script')
    assert.equal(asked['gen_ai.usage.input_tokens'], 140)
    assert.equal(asked['gen_ai.usage.cache_read.input_tokens'], 40)
    assert.equal(asked['gen_ai.usage.output_tokens'], 7)
    assert.equal(asked['dragoman.request.bytes'], here.server.requests[0]?.bytes.length)
    assert.equal(asked['gen_ai.conversation.id'], whole['gen_ai.conversation.id'])

    const written = plain(spans.find(({ name }) => name === 'execute_tool write_file'))
    assert.deepEqual(
      [
        written['dragoman.tool.success'],
        written['dragoman.tool.decision'],
        written['dragoman.tool.origin'],
        written['dragoman.tool.ai_added_lines'],
      ],
      [true, 'auto_accept', 'native', 2],
    )
    assert.ok(Number(written['dragoman.tool.arguments.length']) > 10)
    const refused = plain(spans.find(({ name }) => name === 'execute_tool run_shell_command'))
    assert.deepEqual(
      [refused['dragoman.tool.success'], refused['dragoman.tool.decision'], refused['error.type']],
      [false, 'reject', 'denied'],
    )
    const all = got.map(({ text }) => text).join('')
    for (const secret of ['private', 'Secret', 'hidden', 'sesame', 'forbidden', 'All done', here.work])
      assert.ok(!all.includes(secret), `“${secret}” left the machine`)
  })

  test('with telemetry.prompts, what was said goes along; headers come from the settings', async () => {
    const here = await stage(STEPS)
    const { got, url } = await collector()
    mkdirSync(join(here.home, '.config/dragoman'), { recursive: true })
    const telemetry = { endpoint: url, headers: { authorization: 'Bearer t' }, prompts: true }
    writeFileSync(join(here.home, '.config/dragoman/config.json'), JSON.stringify({ telemetry }))
    const secret = 'sk-canary-0123456789abcdefghij'
    const env = { ...here.env, OPENAI_API_KEY: secret }
    const wish = `my private wish is ${secret}`
    assert.equal((await dragoman(['-p', wish, '--allowed-tools', 'write_file'], { ...here, env })).code, 0)
    assert.equal(got[0]?.headers['authorization'], 'Bearer t')
    const spans = spansIn(got)
    const called = plain(spans.find(({ name }) => name === 'execute_tool write_file'))
    assert.match(String(called['gen_ai.tool.call.arguments']), /sesame/)
    assert.match(String(called['gen_ai.tool.call.result']), /hidden\.txt/)
    assert.match(
      String(plain(spans.find(({ name }) => name.startsWith('invoke')))['gen_ai.input.messages']),
      /my private wish/,
    )
    assert.ok(got.some(({ text }) => text.includes('All done.')))
    assert.ok(!got.some(({ text }) => text.includes('sk-canary')), 'but no key')
  })

  test('an error of the API is a span that says what kind it was', async () => {
    const here = await stage([{ misbehave: [{ kind: 'status', status: 401 }] }])
    const { got, url } = await collector()
    const env = { ...here.env, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/own/path` }
    assert.equal((await dragoman(['-p', 'go'], { ...here, env })).code, 41)
    assert.equal(got[0]?.path, '/own/path')
    const spans = spansIn(got)
    const failed = spans.find(({ name }) => name === 'chat script')
    assert.equal(failed?.status?.code, 2)
    assert.deepEqual([plain(failed)['error.type'], plain(failed)['http.response.status_code']], ['auth', 401])
    assert.equal(spans.find(({ name }) => name.startsWith('invoke'))?.status?.code, 2)
  })

  test('a collector that is not there costs a sentence, and not the run', async () => {
    const here = await stage([{ say: 'ok' }])
    const env = { ...here.env, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }
    const { code, out, err } = await dragoman(['-p', 'go'], { ...here, env })
    assert.deepEqual([code, out], [0, 'ok\n'])
    assert.equal(err, 'dragoman: Telemetry could not be sent to http://127.0.0.1:9/v1/traces.\n')
    const wrong = await dragoman(['-p', 'go'], {
      ...here,
      env: { ...here.env, OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' },
    })
    assert.equal(wrong.code, 52)
    assert.match(wrong.err, /not an http\(s\) URL: nonsense/)
  })

  test('without a collector nothing of it is loaded; and none is loaded before the first request', async () => {
    const here = await stage([{ say: 'ok' }])
    const loaded = join(here.work, 'loaded.txt')
    const hook = join(here.work, 'hook.mjs')
    // The files that a process loads, and when it sends its request.
    writeFileSync(
      hook,
      `import { appendFileSync } from 'node:fs'
       import { register } from 'node:module'
       import http from 'node:http'
       const { request } = http
       http.request = (...args) => { appendFileSync(${JSON.stringify(loaded)}, 'REQUEST\\n'); return request(...args) }
       ;(await import('node:module')).syncBuiltinESMExports()
       register('data:text/javascript,' + encodeURIComponent(\`
         import { appendFileSync } from 'node:fs'
         export async function load(url, context, next) {
           const name = /(telemetry)[^/]*\\.js$/.exec(url)?.[1]
           if (name) appendFileSync(${JSON.stringify(loaded)}, name + '\\\\n')
           return next(url, context)
         }\`))`,
    )
    const env = { ...here.env, NODE_OPTIONS: `--import ${hook}` }
    const order = async (more: Record<string, string>) => {
      writeFileSync(loaded, '')
      assert.equal((await dragoman(['-p', 'go'], { ...here, env: { ...env, ...more } })).code, 0)
      return readFileSync(loaded, 'utf8').trim().split('\n')
    }
    assert.deepEqual(await order({}), ['REQUEST'])
    const { url, got } = await collector()
    const configured = await order({ OTEL_EXPORTER_OTLP_ENDPOINT: url })
    assert.equal(configured[0], 'REQUEST', configured.join(' '))
    assert.ok(configured.includes('telemetry') && got.length > 0)
    const off = await order({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SDK_DISABLED: 'true' })
    assert.ok(!off.includes('telemetry'))
  })

  test('a library user hands in a tracer; a failed attempt is a span of its own', async () => {
    const here = await stage([
      { misbehave: [{ kind: 'status', status: 503 }], when: { request: 1 } },
      { call: [{ name: 'add', args: { n: 2 } }] },
      { say: 'Four.' },
    ])
    const exporter = new InMemorySpanExporter()
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
    const add = tool({
      name: 'add',
      description: 'Adds.',
      parameters: { type: 'object', properties: { n: { type: 'integer' } } },
      effects: () => [],
      execute: () => {
        throw new Error('no sums today')
      },
    })
    const model = withRetry(modelOn('openai-chat', here.server), { random: () => 0, attempts: 2 })
    const end = await agent({ model, tools: [add], telemetry: { tracer: provider.getTracer('mine') } }).run(
      'two and two',
    )
    assert.equal(end.text, 'Four.')
    const spans = [...exporter.getFinishedSpans()]
    await provider.shutdown()
    const chats = spans.filter(({ name }) => name.startsWith('chat'))
    assert.deepEqual(
      chats.map(({ attributes }) => [attributes['error.type'], attributes['dragoman.request.attempt']]),
      [
        ['server', 1],
        [undefined, 2],
        [undefined, 1],
      ],
    )
    const failed = spans.find(({ name }) => name === 'execute_tool add')
    assert.deepEqual(
      [failed?.attributes['error.type'], failed?.attributes['dragoman.tool.origin']],
      ['exception', 'custom'],
    )
    assert.equal(failed?.attributes['dragoman.tool.error'], undefined)
  })

  test('the names are those of the conventions', () => {
    const file = join(root, 'node_modules/@opentelemetry/semantic-conventions/dist/experimental_attributes.mjs')
    const known = readFileSync(file, 'utf8')
    const own = ['span-attributes.ts', 'trace-run.ts'].map((name) =>
      readFileSync(join(root, 'src/agent/telemetry', name), 'utf8'),
    )
    const used = new Set([...own.join('').matchAll(/'(gen_ai\.[a-z_.]+)'/g)].map(([, name]) => name ?? ''))
    assert.ok(used.size >= 18)
    for (const name of used) assert.ok(known.includes(`"${name}"`), name)
  })
})
