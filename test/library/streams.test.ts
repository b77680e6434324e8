import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, describe, test } from 'node:test'
import { agent, sendNodeResponse, tool, toSseResponse, toUiMessageStreamResponse } from '../../src/index.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import { modelOn, rehearse } from '../support/stage.ts'

const servers: RehearsalServer[] = []
after(async () => {
  for (const server of servers) await server.close()
})

const add = tool({
  name: 'add',
  description: 'Adds.',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  effects: () => [],
  execute: ({ a, b }) => ({ sum: a + b }),
})

async function startChat(steps: Parameters<typeof rehearse>[0], more: Partial<Parameters<typeof agent>[0]> = {}) {
  const server = await rehearse(steps)
  servers.push(server)
  return agent({ model: modelOn('anthropic', server), tools: [add], ...more })
}

const addCall = { think: 'Let me add.', say: 'Adding.', call: [{ name: 'add', args: { a: 1, b: 2 } }] }

/** The data of the events of a stream. */
async function readData(response: Response): Promise<{ event?: string; data: string }[]> {
  return (await response.text())
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const [, event] = /^event: (.*)$/m.exec(block) ?? []
      const [, data = ''] = /^data: (.*)$/m.exec(block) ?? []
      return { ...(event !== undefined && { event }), data }
    })
}

describe('a run as a response', () => {
  test('of server-sent events: every event once, as JSON, without the tool', async () => {
    const one = await startChat([addCall, { say: 'Three.' }])
    const response = toSseResponse(one.run('1 + 2?'))
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    const events = await readData(response)
    const parsed = events.map(({ data }) => JSON.parse(data) as { type: string; call?: Record<string, unknown> })
    assert.deepEqual(
      parsed.map(({ type }) => type),
      events.map(({ event }) => event),
    )
    assert.deepEqual([parsed[0]?.type, parsed.at(-1)?.type], ['run-open', 'run-close'])
    const success = parsed.find(({ call }) => call?.['status'] === 'success')?.call
    assert.deepEqual([success?.['name'], success?.['input']], ['add', { a: 1, b: 2 }])
    assert.match(JSON.stringify(success?.['result']), /\{\\"sum\\":3\}/)
    await one.close()
  })

  test('of the UI message stream: text, reasoning, calls and results in order', async () => {
    const one = await startChat([addCall, { say: 'Three.' }])
    const response = toUiMessageStreamResponse(one.run('1 + 2?'))
    assert.equal(response.headers.get('x-vercel-ai-ui-message-stream'), 'v1')
    const events = await readData(response)
    assert.equal(events.pop()?.data, '[DONE]')
    const chunks = events.map(({ data }) => JSON.parse(data) as Record<string, unknown>)
    const types = chunks.map(({ type }) => type)
    const order = (...names: string[]) => {
      const places = names.map((name) => types.indexOf(name))
      assert.ok(!places.includes(-1), `${names.join()} of ${types.join()}`)
      assert.deepEqual(
        places,
        places.toSorted((x, y) => x - y),
      )
    }
    order('start', 'start-step', 'reasoning-start', 'reasoning-delta', 'reasoning-end', 'finish-step', 'finish')
    order('start-step', 'text-start', 'text-delta', 'text-end', 'finish-step')
    order('tool-input-start', 'tool-input-delta', 'tool-input-available', 'finish-step', 'tool-output-available')
    const count = (name: string) => types.filter((type) => type === name).length
    assert.deepEqual(
      ['start', 'start-step', 'text-start', 'text-end', 'reasoning-end', 'finish-step', 'finish'].map(count),
      [1, 2, 2, 2, 1, 2, 1],
    )
    const ids = new Set(chunks.flatMap((chunk) => ('toolCallId' in chunk ? [chunk['toolCallId']] : [])))
    assert.equal(ids.size, 1)
    const text = chunks.flatMap((chunk) => (chunk['type'] === 'text-delta' ? [chunk['delta']] : [])).join('')
    assert.equal(text, 'Adding.Three.')
    await one.close()
  })

  test('a run that cannot start fails the stream', async () => {
    const server = await rehearse([{ say: 'Hello.' }])
    servers.push(server)
    const run = agent({ model: modelOn('anthropic', server), session: 'nothing' }).run('go')
    await assert.rejects(toSseResponse(run).text(), /there is no session nothing/)
  })

  test('through a server of Node; the run stops when the client goes away', async () => {
    const stopped: boolean[] = []
    const slow = tool({
      name: 'slow',
      description: 'Slow.',
      parameters: { type: 'object', properties: {} },
      effects: () => [],
      execute: (_input, { signal }) => sleep(60_000, 'slow', { signal }).catch(() => void stopped.push(true)),
    })
    const one = await startChat([{ say: 'Hello.' }, { call: [{ name: 'slow', args: {} }] }], { tools: [slow] })
    const http = createServer((_request, response) => void sendNodeResponse(toSseResponse(one.run('go')), response))
    await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    try {
      assert.match(await (await fetch(url)).text(), /event: run-close/)
      const stop = new AbortController()
      const reader = (await fetch(url, { signal: stop.signal })).body?.pipeThrough(new TextDecoderStream()).getReader()
      for (let text = ''; !text.includes('"executing"');) text += (await reader?.read())?.value ?? ''
      stop.abort()
      while (stopped.length === 0) await sleep(10)
      await one.close()
    } finally {
      http.closeAllConnections()
      http.close()
    }
  })
})
