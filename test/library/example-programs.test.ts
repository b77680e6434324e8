import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { agent, provider } from 'dragoman'
import { decide, start } from '../../examples/approval.ts'
import { createChatServer } from '../../examples/chat-backend.ts'
import { companyGateway, withCache } from '../../examples/custom-provider.ts'
import { main as runAgents } from '../../examples/multi-agent.ts'
import { main as answerWithTypes } from '../../examples/typed-tools.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import { clearAway } from '../support/clear.ts'
import { modelOn, rehearse } from '../support/stage.ts'

const servers: RehearsalServer[] = []
const folder = mkdtempSync(join(tmpdir(), 'dragoman-examples-'))
after(async () => {
  for (const server of servers) await server.close()
  clearAway(folder)
})

async function serve(steps: Parameters<typeof rehearse>[0]): Promise<RehearsalServer> {
  const server = await rehearse(steps)
  servers.push(server)
  return server
}

describe('the example programs', () => {
  test('chat-backend: chats go on, each in its session', async () => {
    const model = modelOn(
      'openai-chat',
      await serve([{ call: [{ name: 'get_time', args: { zone: 'UTC' } }] }, { say: 'Noon.' }, { say: 'Still noon.' }]),
    )
    const http = createChatServer(model, join(folder, 'chats'))
    await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    const ask = async (chat: string, prompt: string): Promise<string> => {
      const body = JSON.stringify({ chat, prompt })
      const text = await (await fetch(url, { method: 'POST', body })).text()
      return [...text.matchAll(/"type":"text-delta","id":"[^"]*","delta":"([^"]*)"/g)]
        .map(([, delta]) => delta)
        .join('')
    }
    try {
      assert.equal(await ask('a', 'What time is it?'), 'Noon.')
      assert.equal(await ask('a', 'And now?'), 'Still noon.')
      assert.equal(await ask('b', 'What time is it?'), 'Noon.')
    } finally {
      http.closeAllConnections()
      http.close()
    }
  })

  test('approval: the call runs after the yes, and not after the no', async () => {
    const steps = [{ call: [{ name: 'deploy', args: { version: 'v2' } }] }, { say: 'Well.' }]
    for (const [approved, sent] of [
      [true, /Deployed v2\./],
      [false, /refused this call/],
    ] as const) {
      const server = await serve(steps)
      const model = modelOn('openai-chat', server)
      const session = await start(model, join(folder, 'deployer'), 'Deploy v2.')
      assert.equal(await decide(model, join(folder, 'deployer'), session, approved), 'Well.')
      assert.match(server.requests.at(-1)?.bytes.toString() ?? '', sent)
    }
  })

  test('custom-provider: headers, key, fetch and log of its own; a cached response needs no request', async () => {
    const server = await serve([{ say: 'Hello.' }])
    const [log, cache] = [[] as string[], new Map()]
    const model = withCache(companyGateway(`${server.url}/v1`, log)('script'), cache)
    for (let time = 0; time < 3; time++) assert.equal((await agent({ model }).run('Hi.')).text, 'Hello.')
    assert.equal(server.requests.length, 1)
    const { headers = {} } = server.requests[0] ?? {}
    assert.deepEqual([headers['x-team'], headers['authorization']], ['search', 'Bearer token-of-the-hour'])
    assert.deepEqual(log, [`200 ${server.url}/v1/chat/completions`])
  })

  test('multi-agent: subagent, handoff, and five switches over four vendors; every call is kept', async () => {
    const research = { call: [{ name: 'researcher', args: { prompt: 'The plan?' } }] }
    const says = ['', '', 'Pro.', 'One.', 'Two.', 'Three.', 'Four.', 'Five.', '', 'Refunded.'].map((say) => ({ say }))
    const at = (steps: Record<number, object>) => says.map((step, index) => steps[index] ?? step)
    const main = await serve(
      at({ 0: research, 1: { say: 'Pro.' }, 7: { call: [{ name: 'transfer_to_billing', args: {} }] } }),
    )
    const side = await serve([{ say: 'They have Pro.' }, ...at({ 8: { say: 'Refunded.' } }).slice(1)])
    const { answers, text } = await runAgents({
      anthropic: modelOn('anthropic', main),
      openai: modelOn('openai-responses', main),
      gemini: modelOn('gemini', side),
      groq: modelOn('openai-chat', side),
    })
    assert.deepEqual([answers[0], text], ['Pro.', 'Refunded.'])
    const last = side.requests.at(-1)?.bytes.toString() ?? ''
    assert.match(last, /"researcher"[^]*They have Pro[^]*transfer_to_billing/)
    assert.deepEqual([...main.failures, ...side.failures], [])
  })

  test('typed-tools: inputs of three schema libraries, and an answer with a type', async () => {
    const call = (name: string, args: object) => ({ call: [{ name, args: args as Record<string, string> }] })
    const answer = { flight: 'DR 101', euros: 198 }
    for (const wire of ['openai-chat', 'openai-responses', 'anthropic', 'gemini'] as const) {
      const server = await serve([
        call('find_flights', { from: 'Berlin', to: 'Rome' }),
        call('get_price', { flight: 'DR 101', seats: 2 }),
        call('get_weather', { city: 'Rome' }),
        { say: JSON.stringify({ ...answer, euros: 'many' }) },
        { say: JSON.stringify(answer) },
      ])
      assert.deepEqual(await answerWithTypes(modelOn(wire, server)), answer, wire)
      const last = server.requests.at(-1)?.bytes.toString() ?? ''
      assert.match(last, /DR 101[^]*euros[^]{1,6}198[^]*sunny in Rome[^]*many/)
    }
  })

  test('a provider of the table by hand: key and address are those of the options', async () => {
    const server = await serve([{ say: 'Hello.' }])
    const model = provider('anthropic', { apiKey: 'mine', baseUrl: server.url })('script')
    assert.equal((await agent({ model }).run('Hi.')).text, 'Hello.')
    assert.equal(server.requests[0]?.headers['x-api-key'], 'mine')
    assert.throws(() => provider('nobody'), /no provider “nobody” in the table; pass its baseUrl/)
    assert.throws(() => provider('mine', { baseUrl: 'ftp://x' }), /http\(s\) URL/)
  })
})
