import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Gateway } from '../../src/gateway/gateway.ts'
import { isObject, type JsonObject, tryParseJson } from '../../src/model/json.ts'
import type { ScriptStep } from '../../src/rehearsal/script/script.ts'
import { type RehearsalServer, startRehearsalServer } from '../../src/rehearsal/server.ts'
import { post } from '../rehearsal/support.ts'
import { gatewayTo, TOKEN } from './support.ts'

/** What Claude Code sends: betas, adaptive thinking, context management, a system message after the user's. */
const HEADERS = {
  authorization: `Bearer ${TOKEN}`,
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27',
  'user-agent': 'claude-cli/2.1.326 (external, sdk-cli)',
}

const REQUEST = {
  model: 'script',
  max_tokens: 1000,
  stream: true,
  system: [{ type: 'text', text: 'Be brief.' }],
  thinking: { type: 'adaptive', display: 'omitted' },
  output_config: { effort: 'medium' },
  context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
  metadata: { user_id: 'u' },
  tools: [{ name: 'Read', description: 'Reads.', input_schema: { type: 'object', properties: {} } }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
    { role: 'system', content: [{ type: 'text', text: 'The folder is /work.' }] },
  ],
}

const STATUSES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

const errorScript = (status: number): ScriptStep => ({
  misbehave: [{ kind: 'status', status, hint: status === 429 ? 'seconds' : 'none', wait: 3000 }],
})

// The same contract, whether the model speaks the client's API or another one.
for (const upstream of ['anthropic', 'openai-chat'] as const)
  describe(`Claude Code's contract for gateways, with a model on ${upstream}`, () => {
    let rehearsal: RehearsalServer
    let gateway: Gateway
    const isSame = upstream === 'anthropic'
    const ask = (body: JsonObject, model = 'script', path = '/v1/messages?beta=true') =>
      post(gateway.url + path, { ...body, model: `up-${upstream}/${model}` }, { headers: HEADERS, patience: 60_000 })

    before(async () => {
      rehearsal = await startRehearsalServer({
        scripts: {
          script: { steps: [{ say: 'Hello.', call: [{ name: 'Read', args: {} }] }] },
          stall: { steps: [{ say: 'Hello. How are you?', misbehave: [{ kind: 'stall', at: 'before-end' }] }] },
          501: { steps: [errorScript(501)] },
          413: { steps: [errorScript(413)] },
          ...Object.fromEntries(
            Object.keys(STATUSES).map((status) => [status, { steps: [errorScript(Number(status))] }]),
          ),
        },
      })
      gateway = await gatewayTo(rehearsal, [upstream], { hasNoDefault: true })
    })
    after(async () => {
      await gateway.close()
      await rehearsal.close()
    })

    test('/v1/messages: a message with a system role, betas and new fields is answered as a stream', async () => {
      const { status, headers, text } = await ask(REQUEST)
      assert.equal(status, 200, text)
      assert.match(headers['content-type'] ?? '', /^text\/event-stream/)
      const names = [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)
      assert.equal(names[0], 'message_start', text)
      assert.equal(names.at(-1), 'message_stop', text)
      assert.match(text, /"stop_reason":"tool_use"/)
      assert.deepEqual(rehearsal.failures, [])
      const sent = rehearsal.requests.at(-1)
      assert.match(JSON.stringify(sent?.body), /The folder is \/work\./)
      if (isSame) assert.equal(sent?.headers['anthropic-beta'], HEADERS['anthropic-beta'])
      if (isSame) assert.equal(sent?.headers['anthropic-version'], HEADERS['anthropic-version'])
      else assert.match(headers['x-dragoman-warnings'] ?? '', /dropped-options/)
      if (!isSame) assert.equal(sent?.body['reasoning_effort'], 'medium')
      assert.ok(!JSON.stringify(sent?.headers).includes(TOKEN))
    })

    test('streams are not buffered: text arrives while the model is silent', async () => {
      const { text } = await post(
        `${gateway.url}/v1/messages`,
        { ...REQUEST, model: `up-${upstream}/stall` },
        { headers: HEADERS, patience: 60_000, enough: (seen) => seen.includes('How are') },
      )
      assert.match(text, /How are/)
      assert.ok(!text.includes('message_stop'))
    })

    test('/v1/messages/count_tokens counts', async () => {
      const { max_tokens: _max, stream: _stream, ...body } = REQUEST
      const { status, text } = await ask(body, 'script', '/v1/messages/count_tokens?beta=true')
      assert.equal(status, 200, text)
      const { input_tokens: tokens } = JSON.parse(text) as { input_tokens: number }
      assert.ok(tokens > 0, text)
    })

    test('safeguards pass, or are refused by name, so that the client leaves them out', async () => {
      const { status, text } = await ask({ ...REQUEST, safeguards: [{ type: 'dangerous_tool_use' }] })
      if (isSame) {
        assert.equal(status, 200, text)
        assert.match(JSON.stringify(rehearsal.requests.at(-1)?.body), /"safeguards":\[/)
      } else {
        assert.equal(status, 400, text)
        assert.match(readError(text).message, /^safeguards\b/)
        assert.equal(readError(text).type, 'invalid_request_error')
      }
    })

    test('errors have the status, the envelope and the headers of Anthropic', async () => {
      for (const [status, type] of Object.entries(STATUSES)) {
        const answered = await ask(REQUEST, status)
        assert.equal(answered.status, Number(status), answered.text)
        assert.equal(readError(answered.text).type, type, answered.text)
        assert.notEqual(readError(answered.text).message, '')
        if (status === '429') assert.ok(Number(answered.headers['retry-after']) >= 3, JSON.stringify(answered.headers))
        if (!isSame) assert.equal(answered.headers['x-should-retry'], String(status === '429' || status === '529'))
      }
      const missing = await ask(REQUEST, '501')
      assert.equal(missing.status, 501, missing.text)
      assert.ok(readError(missing.text).message)
      // Too large: by its status, or by the words on which Claude Code shortens its history.
      const large = await ask(REQUEST, '413')
      assert.ok(large.status === 413 || /prompt is too long/.test(readError(large.text).message), large.text)
    })

    test('a wrong token is an authentication error that is not tried again', async () => {
      const headers = { ...HEADERS, authorization: 'Bearer wrong' }
      const { status, headers: sent, text } = await post(`${gateway.url}/v1/messages`, REQUEST, { headers })
      assert.equal(status, 401)
      assert.equal(readError(text).type, 'authentication_error')
      assert.equal(sent['x-should-retry'], 'false')
    })

    test('a broken stream ends with an error event', async () => {
      const broken = await startRehearsalServer({
        scripts: { script: { steps: [{ say: 'Hello there.', misbehave: [{ kind: 'cut', at: 'text' }] }] } },
      })
      const other = await gatewayTo(broken, [upstream])
      const { text, broke } = await post(`${other.url}/v1/messages`, REQUEST, { headers: HEADERS, patience: 60_000 })
      await other.close()
      await broken.close()
      assert.ok(!text.includes('message_stop'))
      // If the connection broke before its first bytes were read, the answer is an error as a whole.
      const isWholeError = text.startsWith('{') && readError(text).type === 'api_error'
      assert.ok(isSame ? broke : isWholeError || /event: error\n/.test(text), text)
    })
  })

test('/v1/models lists what Claude Code can choose', async () => {
  const rehearsal = await startRehearsalServer({ scripts: { script: { steps: [] } } })
  const gateway = await gatewayTo(rehearsal, ['openai-chat'], {
    routes: [{ match: 'claude-quick', to: 'up-openai-chat/script' }],
  })
  const answer = await fetch(`${gateway.url}/v1/models?limit=1000`, { headers: HEADERS })
  const { data } = (await answer.json()) as { data: { id: string; display_name: string }[] }
  await gateway.close()
  await rehearsal.close()
  assert.deepEqual(
    data.map(({ id, display_name }) => [id, display_name]),
    [
      ['claude-quick', 'claude-quick'],
      ['up-openai-chat/script', 'up-openai-chat/script'],
    ],
  )
})

function readError(text: string): { type: string; message: string } {
  const body = tryParseJson(text)
  assert.ok(isObject(body) && body['type'] === 'error' && isObject(body['error']), text)
  const { type, message } = body['error']
  return { type: String(type), message: String(message) }
}
