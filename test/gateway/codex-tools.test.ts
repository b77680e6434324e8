import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filterObjects, isObject, type JsonObject, tryParseJson } from '../../src/model/json.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { post, rehearse } from '../rehearsal/support.ts'
import { gatewayTo, TOKEN } from './support.ts'

/** As Codex declares its tools to a model that it knows: inside the input, in namespaces, one of them takes a program. */
const TOOLS = {
  type: 'additional_tools',
  role: 'developer',
  tools: [
    {
      type: 'namespace',
      name: 'functions',
      description: '',
      tools: [
        {
          type: 'custom',
          name: 'exec',
          description: 'Runs a program.',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: /(.|\\n)+/' },
        },
        { type: 'function', name: 'wait', description: 'Waits.', parameters: { type: 'object', properties: {} } },
      ],
    },
  ],
}

const USER = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go.' }] }
const PROGRAM = 'text(await tools.exec_command({ cmd: "cat \\"a b\\".txt" }))\n'

for (const upstream of wireIds)
  test(`${upstream}: a tool of Codex that takes a program gets it as text, also in the history`, async () => {
    const rehearsal = await rehearse([
      { call: [{ name: 'functions__exec', args: { input: PROGRAM } }] },
      { say: 'Done.' },
    ])
    const gateway = await gatewayTo(rehearsal, [upstream])
    const ask = async (input: readonly JsonObject[]): Promise<JsonObject[]> => {
      const body = { model: 'gpt-6-sol', stream: true, store: false, include: ['reasoning.encrypted_content'], input }
      const headers = { authorization: `Bearer ${TOKEN}`, 'user-agent': 'codex_exec/0.169.0 (Debian)' }
      const { status, text } = await post(`${gateway.url}/v1/responses`, body, { headers, patience: 60_000 })
      assert.equal(status, 200, text)
      const events = [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data]) =>
        filterObjects([tryParseJson(data ?? '')]),
      )
      const items = events.flatMap(({ type, item }) =>
        type === 'response.output_item.done' && isObject(item) ? [item] : [],
      )
      return items as JsonObject[]
    }
    try {
      const items = await ask([TOOLS, USER])
      const call = items.find(({ type }) => type === 'custom_tool_call')
      assert.deepEqual([call?.['namespace'], call?.['name'], call?.['input']], ['functions', 'exec', PROGRAM])
      const declared = JSON.stringify(rehearsal.requests.at(-1)?.body)
      // Only OpenAI itself has such tools; compatible servers refuse them.
      assert.equal(/"type":"custom"/.test(declared), upstream === 'openai-responses', declared)
      const output = { type: 'custom_tool_call_output', call_id: call?.['call_id'] ?? '', output: 'heron' }
      const [answer] = await ask([TOOLS, USER, ...items, output])
      assert.equal(answer?.['type'], 'message')
      assert.deepEqual(rehearsal.failures, [])
      const history = JSON.stringify(rehearsal.requests.at(-1)?.messages)
      assert.match(history, /exec_command.*heron/)
    } finally {
      await gateway.close()
      await rehearsal.close()
    }
  })

test('the probe for a WebSocket is answered at once, so that Codex uses HTTP', async () => {
  const rehearsal = await rehearse([{ say: 'Hello.' }])
  const gateway = await gatewayTo(rehearsal, ['openai-chat'])
  const { request } = await import('node:http')
  const status = await new Promise<number>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    const probe = request(`${gateway.url}/v1/responses`, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    probe.on('upgrade', () => resolve(101)).on('error', reject)
    probe.end()
  })
  await gateway.close()
  await rehearsal.close()
  assert.equal(status, 426)
})
