import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import type { McpServerConfig } from '../../src/tool/mcp/client/server-config.ts'
import { root } from '../support/paths.ts'
import { callThrough, said, toolsOf } from './support/calls.ts'
import { makeWorld } from './support/world.ts'

const SERVER = join(root, 'test/mcp/support/wrong-server.mjs')
/** How long a call may take; an answer that has the id of its call does not wait for that. */
const LIMIT = 4000

const WAYS: Readonly<Record<string, (t: TestContext) => Promise<McpServerConfig>>> = {
  stdio: () => Promise.resolve({ command: process.execPath, args: [SERVER], timeout: LIMIT }),
  'HTTP, whole': (t) => overHttp(t, 'whole'),
  'HTTP, streamed': (t) => overHttp(t, 'stream'),
}

async function overHttp(t: TestContext, how: string): Promise<McpServerConfig> {
  const child = spawn(process.execPath, [SERVER, 'http', how], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill())
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return { httpUrl: `http://127.0.0.1:${port.toString().trim()}/mcp`, timeout: LIMIT }
}

describe('answers that are wrong', () => {
  for (const [way, start] of Object.entries(WAYS)) {
    test(`over ${way}: every call ends with a result, and the next one works`, async (t) => {
      const servers = makeWorld().open({ wrong: await start(t) })
      await servers.list[0]?.ready()
      // Over stdio these wait for their limit; three of their kind are enough.
      const left = way === 'stdio' ? /^(?:a_number|a_text|a_list_of_null|an_empty_object|no_words|no_id)$/ : /^$/
      const names = toolsOf(servers, 'wrong').filter((name) => !left.test(name))
      assert.ok(names.length > 20, String(names.length))
      const calls = names.flatMap((name) => [['wrong', name, {}] as const, ['wrong', 'good', {}] as const])
      const began = Date.now()
      const { results } = await callThrough(servers, calls)
      const told = new Map(results.flatMap((result, at) => (at % 2 === 0 ? [[names[at / 2] ?? '', result]] : [])))
      for (const [at, result] of results.entries()) {
        // A tool may have nothing to say.
        if (!/content/.test(calls[at]?.[1] ?? '')) assert.notEqual(said(result), '', calls[at]?.[1])
        if (at % 2 === 1) assert.equal(said(result), 'fine', `after ${calls[at - 1]?.[1]}`)
      }
      const text = (name: string) => said(told.get(name) ?? assert.fail(name))
      for (const name of ['result_null', 'result_number', 'result_text', 'result_list', 'only_an_id', 'error_null'])
        assert.match(text(name), /in place of a result|no answer|before the response came/, name)
      for (const name of ['error_text', 'error_without_message', 'error_with_odd_code', 'both'])
        assert.match(text(name), /frozen|without a message|before the response came/, name)
      for (const name of ['nothing_but_null', 'another_id', 'no_json'])
        assert.match(text(name), /did not answer within 4 s|no answer|before the response came/, name)
      assert.equal(text('controls'), 'a\nb\\x08c')
      assert.match(text('long_error'), /\\x07M{100}/)
      assert.ok(text('long_error').length < 5000, 'a long error is cut')
      assert.deepEqual(servers.skippedTools('wrong'), [
        { name: 'deep', reason: 'its schema is nested more than 64 levels deep' },
      ])
      // Only what cannot be told to belong to a call waits for its limit.
      const waited = names.filter((name) => /did not answer within/.test(text(name)))
      t.diagnostic(`${names.length} answers, ${waited.length} waited for the limit; ${Date.now() - began} ms`)
      if (way !== 'stdio') assert.deepEqual(waited, [])
      await servers.close()
    })
  }

  test('a server that never answers, and tells of progress for ever, is given up', async () => {
    const script = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
      if (method === 'initialize') send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } })
      else if (method === 'tools/list') send({ id, result: { tools: [{ name: 'busy', inputSchema: { type: 'object' } }] } })
      else if (method === 'tools/call') setInterval(() => send({ method: 'notifications/progress', params: { progressToken: params._meta?.progressToken, progress: 1 } }), 50)
      else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } })
    })`
    const servers = makeWorld().open({ busy: { command: process.execPath, args: ['-e', script], timeout: 500 } })
    await servers.list[0]?.ready()
    const { results } = await callThrough(servers, [['busy', 'busy', {}]])
    assert.match(said(results[0]!), /did not answer within 0\.5 s/)
    await servers.close()
  })
})
