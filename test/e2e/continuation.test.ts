import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { dragoman } from '../support/command.ts'
import { rawStage } from '../support/raw-server.ts'

type WireCase = (typeof CASES)[keyof typeof CASES]

const event = (data: JsonObject): string => `data: ${JSON.stringify(data)}\n\n`

const READ = { name: 'read_file', args: { file_path: 'a.txt' } }

/** A piece of a response; `rest` says how the vendor announces that there is more. */
interface Piece {
  readonly text?: string
  readonly call?: typeof READ
  readonly rest?: number
}

function interactions({ text, call, rest }: Piece): string {
  const steps = [
    ...(text === undefined ? [] : [{ type: 'model_output', content: [{ type: 'text', text }] }]),
    ...(call ? [{ type: 'function_call', id: 'c1', name: call.name, arguments: call.args }] : []),
  ]
  const usage = { total_input_tokens: 10, total_output_tokens: 5 }
  const end =
    rest === undefined ? { status: 'completed' } : { status: 'requires_continuation', continuation_token: `t${rest}` }
  return [
    event({ event_type: 'interaction.created', interaction: { id: '', status: 'in_progress' } }),
    ...steps.flatMap((step, index) => [
      event({ event_type: 'step.start', index, step }),
      event({ event_type: 'step.stop', index }),
    ]),
    event({ event_type: 'interaction.completed', interaction: { id: '', usage, ...end } }),
  ].join('')
}

function gemini({ text, call, rest }: Piece): string {
  const parts = [
    ...(text === undefined ? [] : [{ text }]),
    ...(call ? [{ functionCall: { name: call.name, args: call.args } }] : []),
  ]
  const end =
    rest === undefined ? { finishReason: 'STOP' } : { finishReason: 'CONTINUATION', continuationToken: `t${rest}` }
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5 }
  return event({ candidates: [{ content: { role: 'model', parts }, ...end }], usageMetadata })
}

/** Only responses with tools of the server are paused. */
function anthropic({ text, call, rest }: Piece): string {
  const id = `srvtoolu_${rest ?? ''}`
  const blocks = [
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...(call ? [{ type: 'tool_use', id: 'toolu_1', name: call.name, input: call.args }] : []),
    ...(rest === undefined ? [] : [{ type: 'server_tool_use', id, name: 'web_search', input: { query: 'x' } }]),
  ]
  const usage = { input_tokens: 10, output_tokens: 5 }
  const stop_reason = rest === undefined ? (call ? 'tool_use' : 'end_turn') : 'pause_turn'
  return [
    { type: 'message_start', message: { id: 'm', content: [] } },
    ...blocks.flatMap((content_block, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason }, usage },
    { type: 'message_stop' },
  ]
    .map((one) => event(one as JsonObject))
    .join('')
}

const CASES = {
  interactions: {
    row: 'gemini-interactions',
    speak: interactions,
    /** What the request for the rest has, beside the request before it. */
    asks: (body: JsonObject, rest: number) => body['continuation_token'] === `t${rest}`,
    history: 'input',
  },
  gemini: {
    row: 'gemini',
    speak: gemini,
    asks: (body: JsonObject, rest: number) => body['continuationToken'] === `t${rest}`,
    history: 'contents',
  },
  anthropic: {
    row: 'anthropic',
    speak: anthropic,
    asks: (body: JsonObject, rest: number) =>
      JSON.stringify((body['messages'] as JsonObject[]).at(-1)).includes(`srvtoolu_${rest}`),
    history: 'messages',
  },
}

async function play({ row, speak }: WireCase, pieces: readonly (Piece | number)[]) {
  const set = await rawStage('gemini', ({ n, response }) => {
    const piece = pieces[n] ?? { text: 'END' }
    if (typeof piece !== 'number') return speak(piece)
    response.writeHead(piece, { 'content-type': 'application/json', 'retry-after-ms': '1' }).end('{}')
    return undefined
  })
  const name = row.toUpperCase().replaceAll('-', '_')
  const path = row === 'anthropic' ? '/v1' : row === 'gemini' ? '/v1beta' : ''
  const env = { ...set.env, DRAGOMAN_MODEL: `${row}/m`, [`DRAGOMAN_${name}_BASE_URL`]: `${set.url}${path}` }
  return { ...set, env, requests: () => set.bodies.map((body) => JSON.parse(body) as JsonObject) }
}

describe('T193 a response that the vendor continues in the next one', () => {
  for (const [wire, one] of Object.entries(CASES)) {
    test(`${wire}: is one answer, with the tokens of all its pieces`, async () => {
      const set = await play(one, [{ text: 'One, ', rest: 1 }, { text: 'two, ', rest: 2 }, { text: 'three.' }])
      const { code, out } = await dragoman(['-p', 'count', '--output-format', 'json'], set)
      const printed = JSON.parse(out) as { response: string; stats: unknown }
      assert.equal(code, 0)
      assert.equal(printed.response, 'One, two, three.')
      const requests = set.requests()
      assert.equal(requests.length, 3)
      assert.ok(requests[1] && one.asks(requests[1], 1), JSON.stringify(requests[1]))
      assert.ok(requests[2] && one.asks(requests[2], 2), JSON.stringify(requests[2]))
      assert.match(JSON.stringify(printed.stats), /:30\b/)
    })

    test(`${wire}: its calls run once, after its end`, async () => {
      const set = await play(one, [{ text: 'I look. ', rest: 1 }, { call: READ }, { text: 'It says yes.' }])
      writeFileSync(join(set.work, 'a.txt'), 'yes')
      const { code, out } = await dragoman(['-p', 'read'], set)
      assert.deepEqual([code, out], [0, 'I look. \nIt says yes.\n'])
      assert.equal(set.bodies.length, 3)
      // The history has the whole response, and the result of its call.
      const [, , last] = set.requests()
      const history = JSON.stringify(last?.[one.history])
      assert.match(history, /I look\./)
      assert.equal(history.match(/"a\.txt"/g)?.length, 1)
      assert.match(history, /yes/)
      assert.doesNotMatch(JSON.stringify(last), /ontinuation/)
    })

    test(`${wire}: a fault on the way asks for the whole response again`, async () => {
      const set = await play(one, [{ text: 'One, ', rest: 1 }, 503, { text: 'All of it.' }])
      const { code, out } = await dragoman(['-p', 'count'], set)
      assert.deepEqual([code, out.split('\n').at(-2)], [0, 'All of it.'])
      const [first, , third] = set.bodies
      assert.equal(third, first)
    })
  }

  for (const wire of ['interactions', 'gemini'] as const)
    test(`${wire}: a server that does not get on is left, and the answer counts as cut off`, async () => {
      const set = await play(CASES[wire], [
        { text: 'Half', rest: 1 },
        ...Array.from({ length: 9 }, () => ({ rest: 1 })),
      ])
      const { code, out } = await dragoman(['-p', 'go'], set)
      assert.deepEqual([code, out], [1, 'Half\n'])
      assert.equal(set.bodies.length, 2)
    })
})
