import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Gateway, type GatewayOptions, startGateway } from '../../src/gateway/gateway.ts'
import { type JsonObject, stringOrEmpty } from '../../src/model/json.ts'
import type { Usage } from '../../src/model/usage.ts'
import { resolveModel } from '../../src/provider/index.ts'
import { post } from '../rehearsal/support.ts'
import { KEY, providerAt, TOKEN } from './support.ts'

/** How the next request is answered. */
export interface ScriptedAnswer {
  readonly thinking?: string
  readonly text?: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: string }[]
  readonly usage?: Partial<Usage>
  readonly status?: number
  /** Milliseconds until the first byte, and from there to the end. */
  readonly wait?: number
  readonly stream?: number
  /** Nothing is sent before. */
  readonly until?: Promise<void>
}

/** A server that speaks the APIs of Anthropic and OpenAI, and says what it is told to. */
export async function startScriptedUpstream() {
  const answers: ScriptedAnswer[] = []
  const server = createServer((request, response) => {
    request.resume()
    request.once('end', () => {
      void (async () => {
        const answer = answers.shift() ?? { text: 'Done.' }
        await pause(answer.wait)
        await answer.until
        if (answer.status !== undefined) {
          response.writeHead(answer.status, { 'content-type': 'application/json', 'retry-after': '0' })
          response.end(
            JSON.stringify({
              type: 'error',
              error: { type: 'overloaded_error', message: answer.text ?? 'Overloaded' },
            }),
          )
          return
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const frames = (request.url ?? '').includes('/messages') ? writeAnthropic(answer) : writeChat(answer)
        response.write(frames[0] ?? '')
        await pause(answer.stream)
        response.end(frames.slice(1).join(''))
      })()
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (...more: readonly ScriptedAnswer[]): void => void answers.push(...more),
    /** Forgets the answers that nobody asked for. */
    reset: (): void => void (answers.length = 0),
    close: (): Promise<void> =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

export type ScriptedUpstream = Awaited<ReturnType<typeof startScriptedUpstream>>

function pause(ms = 0): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((done) => setTimeout(done, ms))
}

function writeAnthropic({ thinking, text, calls = [], usage = {} }: ScriptedAnswer): string[] {
  const event = (data: JsonObject): string => `event: ${stringOrEmpty(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`
  const { input = 100, cacheRead = 0, cacheWrite = 0, output = 20 } = usage
  const block = (index: number, start: JsonObject, delta: JsonObject): string[] => [
    event({ type: 'content_block_start', index, content_block: start }),
    event({ type: 'content_block_delta', index, delta }),
    event({ type: 'content_block_stop', index }),
  ]
  const blocks: [JsonObject, JsonObject][] = [
    ...(thinking === undefined
      ? []
      : [
          [
            { type: 'thinking', thinking: '', signature: '' },
            { type: 'thinking_delta', thinking },
          ] as [JsonObject, JsonObject],
        ]),
    ...(text === undefined
      ? []
      : [
          [
            { type: 'text', text: '' },
            { type: 'text_delta', text },
          ] as [JsonObject, JsonObject],
        ]),
    ...calls.map(({ id, name, input: json }): [JsonObject, JsonObject] => [
      { type: 'tool_use', id, name, input: {} },
      { type: 'input_json_delta', partial_json: json },
    ]),
  ]
  const counts = { input_tokens: input, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite }
  return [
    event({
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'script',
        content: [],
        stop_reason: null,
        usage: { ...counts, output_tokens: 1 },
      },
    }),
    ...blocks.flatMap(([start, delta], index) => block(index, start, delta)),
    event({
      type: 'message_delta',
      delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: output },
    }),
    event({ type: 'message_stop' }),
  ]
}

function writeChat({ thinking, text, calls = [], usage = {} }: ScriptedAnswer): string[] {
  const chunk = (delta: JsonObject, more: JsonObject = {}): string =>
    `data: ${JSON.stringify({ id: 'chat_1', object: 'chat.completion.chunk', model: 'script', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`
  const { input = 100, cacheRead = 0, output = 20, reasoning = 0 } = usage
  const counts = {
    prompt_tokens: input + cacheRead,
    completion_tokens: output + reasoning,
    total_tokens: input + cacheRead + output + reasoning,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(thinking === undefined ? [] : [chunk({ reasoning_content: thinking })]),
    ...(text === undefined ? [] : [chunk({ content: text })]),
    ...calls.map(({ id, name, input: json }, index) =>
      chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: json } }] }),
    ),
    chunk({}, { finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }),
    `data: ${JSON.stringify({ id: 'chat_1', object: 'chat.completion.chunk', model: 'script', choices: [], usage: counts })}\n\n`,
    'data: [DONE]\n\n',
  ]
}

/** A gateway before the upstream: `claude-…` models pass through, all others are translated. */
export function gatewayBefore(upstream: ScriptedUpstream, more: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const rows = [providerAt('anthropic', 'anthropic', upstream.url), providerAt('router', 'openai-chat', upstream.url)]
  return startGateway({
    token: TOKEN,
    envelopeKey: KEY,
    retry: { attempts: 3, longest: 50 },
    resolveModel: (name) => resolveModel(name, { TEST_KEY: 'upstream-key-1234567890' }, rows),
    routes: [
      { match: 'claude-*', to: 'anthropic/claude-sonnet-4-5' },
      { match: '*', to: 'router/qwen3-coder' },
    ],
    price: (_origin, { input, cacheRead, cacheWrite, output, reasoning }) =>
      (input * 3 + cacheRead * 0.3 + cacheWrite * 3.75 + (output + reasoning) * 15) / 1e6,
    ...more,
  })
}

export const PAGE_TOKEN = TOKEN

const TOOLS: JsonObject[] = [
  ['read_file', 'Reads a file of the workspace and returns its lines with numbers.', ['path']],
  ['edit_file', 'Replaces a text in a file. The old text must occur exactly once.', ['path', 'old', 'new']],
  ['run_command', 'Runs a command in a shell and returns its output and exit code.', ['command']],
  ['search', 'Searches the files of the workspace for a regular expression.', ['pattern', 'glob']],
].map(([name, description, keys]) => ({
  name: name as string,
  description: `${description as string} `.repeat(6).trim(),
  input_schema: {
    type: 'object',
    properties: Object.fromEntries(
      (keys as string[]).map((key) => [key, { type: 'string', description: `The ${key}.` }]),
    ),
    required: keys as string[],
  },
}))

export interface SentMessage {
  readonly client?: string
  readonly session?: string
  readonly system?: string
  readonly tools?: readonly JsonObject[]
  readonly messages: readonly JsonObject[]
  readonly model?: string
  readonly headers?: Record<string, string>
}

/** A request as an Anthropic client sends it. */
export function sendMessage(gateway: Gateway, message: SentMessage) {
  const { client = 'claude-cli/2.0.1 (external, cli)', session = 'one', model = 'claude-sonnet-4-5' } = message
  const { system = SYSTEM, tools = TOOLS, messages, headers } = message
  const body = {
    model,
    max_tokens: 8000,
    stream: true,
    metadata: { user_id: `user_1_account__session_${session}` },
    system: [{ type: 'text', text: system }],
    tools,
    messages,
  }
  return post(`${gateway.url}/v1/messages`, body, {
    headers: { 'x-api-key': gateway.token, 'anthropic-version': '2023-06-01', 'user-agent': client, ...headers },
    patience: 60_000,
  })
}

export const SYSTEM = `You are a coding agent. Work in small steps and check each of them.\n\nToday is 2026-03-01.\n${'Prefer the tools over guessing. Quote paths. Never remove what you did not make.\n'.repeat(12)}`

const FILE = Array.from(
  { length: 160 },
  (_, at) =>
    `${at + 1}\texport function formatDate${at}(date: Date): string { return date.toISOString().slice(0, ${at % 20}) }`,
).join('\n')

/** A session of a coding agent in which most things happen once. */
export async function playDemo(gateway: Gateway, upstream: ScriptedUpstream): Promise<void> {
  const history: JsonObject[] = [
    {
      role: 'user',
      content: [
        {
          type: 'text',
          text: '<system-reminder>\nCLAUDE.md: run npm test before you finish. Use two spaces.\n</system-reminder>',
        },
        { type: 'text', text: 'Fix the failing date test in src/date.ts' },
      ],
    },
  ]
  const steps: [ScriptedAnswer, JsonObject[]][] = [
    [
      {
        thinking: 'The test fails in src/date.ts. I read it first.',
        text: 'I read the file first.',
        calls: [
          { id: 'toolu_1', name: 'read_file', input: '{"path":"src/date.ts"}' },
          { id: 'toolu_2', name: 'search', input: '{"pattern":"formatDate","glob":"test/**"}' },
        ],
        usage: { input: 40, cacheWrite: 1900, output: 164 },
        wait: 180,
        stream: 260,
      },
      [
        toResult('toolu_1', FILE),
        toResult(
          'toolu_2',
          'test/date.test.ts:14: assert.equal(formatDate(day), "2026-03-01")\ntest/date.test.ts:22: formatDate(new Date(NaN))',
        ),
      ],
    ],
    [
      {
        text: 'The slice is one character short.',
        calls: [
          {
            id: 'toolu_3',
            name: 'edit_file',
            input: '{"path":"src/date.ts","old":"slice(0, 9)","new":"slice(0, 10)"}',
          },
        ],
        usage: { input: 340, cacheRead: 1940, cacheWrite: 6460, output: 122 },
        wait: 120,
        stream: 320,
      },
      [toResult('toolu_3', 'The file was changed.')],
    ],
    [
      {
        calls: [{ id: 'toolu_4', name: 'run_command', input: '{"command":"npm test -- date"}' }],
        usage: { input: 160, cacheRead: 8740, cacheWrite: 380, output: 61 },
        wait: 90,
        stream: 140,
      },
      [
        toResult(
          'toolu_4',
          `${'ok   test/date.test.ts\n'.repeat(18)}not ok 3 - an invalid date\n  TypeError: Invalid time value`,
          true,
        ),
      ],
    ],
    [
      {
        thinking: 'An invalid date throws in toISOString.',
        text: 'An invalid date still throws; I guard against it.',
        calls: [
          {
            id: 'toolu_5',
            name: 'edit_file',
            input:
              '{"path":"src/date.ts","old":"return date","new":"if (Number.isNaN(date.getTime())) return \'\'\\n  return date"}',
          },
        ],
        usage: { input: 610, cacheRead: 8900, cacheWrite: 720, output: 240 },
        wait: 150,
        stream: 420,
      },
      [toResult('toolu_5', 'The file was changed.')],
    ],
    [
      {
        calls: [{ id: 'toolu_6', name: 'run_command', input: '{"command":"npm test"}' }],
        usage: { input: 10_480, cacheRead: 0, cacheWrite: 240, output: 58 },
        wait: 420,
        stream: 150,
      },
      [toResult('toolu_6', `${'ok   test/all.test.ts\n'.repeat(60)}PASSED: 214 tests`)],
    ],
    [
      {
        text: 'The test passes now: `formatDate` keeps all ten characters of the day, and an invalid date gives an empty text.',
        usage: { input: 130, cacheRead: 10_720, cacheWrite: 860, output: 96 },
        wait: 110,
        stream: 240,
      },
      [],
    ],
  ]
  for (const [at, [answer, results]] of steps.entries()) {
    if (at === 3) upstream.answer({ status: 529, text: 'Overloaded' })
    upstream.answer(answer)
    const system = at >= 4 ? SYSTEM.replace('2026-03-01', '2026-03-02') : SYSTEM
    const answered = await sendMessage(gateway, { session: 'a1', messages: history, system })
    if (answered.status !== 200) await sendMessage(gateway, { session: 'a1', messages: history, system })
    history.push({ role: 'assistant', content: toContent(answer) })
    if (results.length > 0) history.push({ role: 'user', content: results })
  }
  await playTranslated(gateway, upstream)
}

/** A client of another API than the model's, with calls that had to be rescued or rejected. */
async function playTranslated(gateway: Gateway, upstream: ScriptedUpstream): Promise<void> {
  const task: JsonObject = { role: 'user', content: 'Explain how the release script works' }
  const tools = [{ name: 'web_search', type: 'web_search_20250305', max_uses: 3 } as JsonObject, ...TOOLS]
  upstream.answer({
    thinking: 'Read the script.',
    text: 'Let me look.',
    calls: [{ id: 'call_1', name: 'read_file', input: '{"path":"scripts/release.mjs"}' }],
    usage: { input: 2900, output: 88, reasoning: 210 },
    wait: 140,
    stream: 180,
  })
  const sent = {
    session: 'b2',
    model: 'gpt-5.1-codex',
    client: 'codex_cli_rs/0.50.0',
    tools,
    headers: { session_id: 'b2' },
  }
  await sendMessage(gateway, { ...sent, messages: [task] })
  const call = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'call_1', name: 'read_file', input: { path: 'scripts/release.mjs' } }],
  } as JsonObject
  const more = [task, call, { role: 'user', content: [toResult('call_1', FILE.slice(0, 3000))] } as JsonObject]
  upstream.answer({ status: 503, text: 'Busy' })
  upstream.answer({
    text: '<tool_call>\n{"name": "run_command", "arguments": {"command": "node scripts/release.mjs --dry-run"}}\n</tool_call>',
    usage: { input: 900, cacheRead: 2900, output: 45 },
    wait: 100,
    stream: 90,
  })
  await sendMessage(gateway, { ...sent, messages: more })
  upstream.answer(
    {
      calls: [{ id: 'call_3', name: 'edit_file', input: '{"path":"scripts/release.mjs","old":"a' }],
      usage: { input: 950, cacheRead: 2900, output: 33 },
    },
    { text: 'It tags, packs and publishes.', usage: { input: 950, cacheRead: 2900, output: 33 } },
  )
  await sendMessage(gateway, { ...sent, messages: [...more, { role: 'user', content: 'Go on.' }] })
  upstream.reset()
  await post(
    `${gateway.url}/v1/messages/count_tokens`,
    { model: 'gpt-5.1-codex', messages: [task] },
    { headers: { 'x-api-key': gateway.token, 'user-agent': 'codex_cli_rs/0.50.0', session_id: 'b2' } },
  )
}

export function toResult(id: string, text: string, isError = false): JsonObject {
  return { type: 'tool_result', tool_use_id: id, content: text, ...(isError && { is_error: true }) }
}

function toContent({ thinking, text, calls = [] }: ScriptedAnswer): JsonObject[] {
  return [
    ...(thinking === undefined ? [] : [{ type: 'thinking', thinking, signature: 'c2ln' }]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input: JSON.parse(input) as JsonObject })),
  ]
}
