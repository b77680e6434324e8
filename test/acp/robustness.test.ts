import assert from 'node:assert/strict'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { test } from 'node:test'
import { MAX_LINE_BYTES } from '../../src/acp/line-splitter.ts'
import { dragoman, stage } from '../support/command.ts'

const LIMIT = { timeout: 300_000 }

type Message = { id?: unknown; result?: Record<string, unknown>; error?: { code: number }; method?: string }

/** Sends bytes as they are, and returns the messages of the agent. */
async function exchange(input: string | Buffer, more: Record<string, string> = {}): Promise<Message[]> {
  const place = await stage([{ say: 'hello' }])
  const { code, out, err } = await dragoman(
    ['acp'],
    { ...place, env: { ...place.env, ...more } },
    { open: true, started: (child) => void child.stdin?.end(input) },
  )
  assert.equal(code, 0, err)
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Message)
}

const request = (id: unknown, method: string, params: object = {}): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`

const INITIALIZE = request(1, 'initialize', { protocolVersion: 1 })

test('bad JSON, wrong messages and unknown methods are answered, and the connection goes on', LIMIT, async () => {
  const messages = await exchange(
    [
      '{"jsonrpc": "2.0", "id": 7,\n',
      '[1, 2]\n',
      '"text"\n',
      '\n',
      request({ no: 'id' }, 'initialize'),
      request(2, 'session/fly'),
      request(3, 'toString'),
      request(4, 'session/prompt', { sessionId: 'none', prompt: [] }),
      request(5, 'session/new', { cwd: 'relative', mcpServers: [] }),
      request(6, 'session/new', {}),
      request(8, 'session/load', { sessionId: '../../etc', cwd: '/', mcpServers: [] }),
      request(9, 'authenticate', { methodId: 'magic' }),
      '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"none"}}\n',
      '{"jsonrpc":"2.0","method":"notify/unknown"}\n',
      '{"jsonrpc":"2.0","id":99,"result":{}}\n',
      INITIALIZE,
    ].join(''),
  )
  const codes = Object.fromEntries(messages.map(({ id, error }) => [String(id), error?.code]))
  assert.deepEqual(codes, {
    null: -32600,
    1: undefined,
    2: -32601,
    3: -32601,
    4: -32002,
    5: -32602,
    6: -32602,
    8: -32002,
    9: -32602,
  })
  assert.equal(messages.filter(({ error }) => error?.code === -32700).length, 1)
})

test('unknown fields, versions and capabilities of a newer client are accepted', LIMIT, async () => {
  const [answer] = await exchange(
    request('text id', 'initialize', {
      protocolVersion: 7,
      clientCapabilities: { fs: 'everything', teleport: true, session: { notices: null } },
      mood: 'good',
    }),
  )
  assert.equal(answer?.id, 'text id')
  assert.equal(answer?.result?.['protocolVersion'], 1)
})

test('a message that arrives byte by byte, and one without a line end at the close, are read', LIMIT, async () => {
  const place = await stage([{ say: 'hello' }])
  const { out, code } = await dragoman(['acp'], place, {
    open: true,
    started: (child) => {
      const bytes = Buffer.from(request('ä🙂', 'initialize', { protocolVersion: 1 }).trim())
      void (async () => {
        for (const byte of bytes) await new Promise((done) => child.stdin?.write(Buffer.of(byte), done))
        child.stdin?.end()
      })()
    },
  })
  assert.equal(code, 0)
  assert.equal((JSON.parse(out) as Message).id, 'ä🙂')
})

test('a line beyond the limit is refused, and the next one is read', LIMIT, async () => {
  const messages = await exchange(
    Buffer.concat([Buffer.alloc(MAX_LINE_BYTES + 10, 'x'), Buffer.from(`\n${INITIALIZE}`)]),
  )
  assert.deepEqual(
    messages.map(({ id, error }) => [id, error?.code]),
    [
      [null, -32600],
      [1, undefined],
    ],
  )
})

test('without a model a session needs a sign-in, and the reason is told', LIMIT, async () => {
  const messages = await exchange(
    INITIALIZE +
      request(2, 'session/new', { cwd: '/', mcpServers: [] }) +
      request(3, 'authenticate', { methodId: 'key' }),
    { OPENAI_API_KEY: '', DRAGOMAN_MODEL: '' },
  )
  assert.equal(messages.find(({ id }) => id === 2)?.error?.code, -32000)
  assert.equal(messages.find(({ id }) => id === 3)?.error?.code, -32000)
})

test('a closed input ends the command, also while a session is being opened', LIMIT, async () => {
  const place = await stage([{ say: 'hello' }])
  const input = INITIALIZE + request(2, 'session/new', { cwd: place.work, mcpServers: [] })
  const { code, err } = await dragoman(['acp'], place, { open: true, started: (child) => void child.stdin?.end(input) })
  assert.equal(code, 0, err)
  const list = await dragoman(['sessions', 'list', '--json'], place)
  assert.deepEqual(JSON.parse(list.out), [])
})

test('a request that the client cancels ends, and the session goes on', LIMIT, async () => {
  const place = await stage([{ say: 'one two three four', pieces: 4, pace: 60_000 }, { say: 'Again.' }])
  const answers = new Map<unknown, Message>()
  let sessionId = ''
  const prompt = (id: number): string =>
    request(id, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] })
  const { code, err } = await dragoman(['acp'], place, {
    open: true,
    started(child) {
      const write = (text: string): void => void child.stdin?.write(text)
      let isCancelled = false
      createInterface({ input: child.stdout as Readable }).on('line', (line) => {
        const message = JSON.parse(line) as Message & { params?: { update?: { sessionUpdate?: string } } }
        if (message.method === undefined) answers.set(message.id, message)
        if (message.id === 2) {
          sessionId = String(message.result?.['sessionId'])
          write(prompt(3))
        }
        if (message.params?.update?.sessionUpdate === 'agent_message_chunk' && !isCancelled) {
          isCancelled = true
          write(`${JSON.stringify({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 3 } })}\n`)
        }
        if (message.method === undefined && message.id === 3) write(prompt(4))
        if (message.method === undefined && message.id === 4) child.stdin?.end()
      })
      write(INITIALIZE + request(2, 'session/new', { cwd: place.work, mcpServers: [] }))
    },
  })
  assert.equal(code, 0, err)
  assert.deepEqual(
    [3, 4].map((id) => answers.get(id)?.result?.['stopReason']),
    ['cancelled', 'end_turn'],
  )
})
