import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/server/client/connect.ts'
import { readServerEvents } from '../../src/server/client/event-source.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { startTestServer, TOKEN, until } from './support.ts'

const seed = Number(process.env['DRAGOMAN_SEED'] ?? 1)

/** The same numbers for the same seed. */
function random(start: number): (below: number) => number {
  let state = start >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const count = tool({
  name: 'count',
  description: 'Counts.',
  parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  effects: () => [],
  execute: ({ n }) => `counted ${n}`,
})

const SCRIPT = {
  start: 'prompt',
  steps: [
    { call: [{ name: 'count', args: { n: 1 } }] },
    { call: [{ name: 'count', args: { n: 2 } }] },
    { say: 'Done.', pieces: 5 },
  ],
} as const

test(`events: a stream that is joined again 500 times has every entry once, in order (seed ${seed})`, async (t) => {
  t.diagnostic(`seed ${seed}`)
  const { server, backend, api } = await startTestServer(SCRIPT, { tools: [count] })
  const next = random(seed)
  await api('POST', '/v1/sessions', { id: 's' })
  const PROMPTS = 30
  for (let at = 0; at < PROMPTS; at++)
    assert.equal((await api('POST', '/v1/sessions/s/prompts', { input: `prompt ${at}` })).status, 202)
  const seen: { seq: number; text: string }[] = []
  let joins = 0
  let last = 0
  const isOver = async (): Promise<boolean> =>
    (await backend.getStore('default').read('s')).entries.filter(({ kind }) => kind === 'close').length === PROMPTS

  /** Reads some events, perhaps none, and leaves in the middle of the stream. */
  async function join(events: number): Promise<void> {
    joins++
    const leave = new AbortController()
    const byHeader = next(2) === 0
    const response = await fetch(`${server.url}/v1/sessions/s/events${byHeader ? '' : `?after=${last}`}`, {
      headers: { authorization: `Bearer ${TOKEN}`, ...(byHeader && { 'last-event-id': String(last) }) },
      signal: leave.signal,
    })
    assert.equal(response.status, 200)
    const timer = setTimeout(() => leave.abort(), 10 + next(30))
    try {
      let left = events
      for await (const event of readServerEvents(response.body as unknown as AsyncIterable<Uint8Array>)) {
        if (event.id === undefined) {
          assert.notEqual(event.name, 'entry')
          continue
        }
        last = Number(event.id)
        seen.push({ seq: last, text: JSON.stringify(event.data) })
        if (--left <= 0) break
      }
    } catch (error) {
      if (!leave.signal.aborted) throw error
    } finally {
      clearTimeout(timer)
      leave.abort()
    }
  }

  while (joins < 500) await join(next(4))
  await until('all prompts end', isOver)
  const { entries } = await backend.getStore('default').read('s')
  for (let tries = 0; last < (entries.at(-1)?.seq ?? 0) && tries < 500; tries++) await join(1000)
  assert.deepEqual(
    seen.map(({ seq }) => seq),
    entries.map(({ seq }) => seq),
  )
  assert.deepEqual(
    seen.map(({ text }) => JSON.parse(text)),
    JSON.parse(JSON.stringify(entries)),
  )
  assert.ok(joins >= 500)
})

test('events: text arrives while it is received, without ids, and the state is told', async () => {
  const { server } = await startTestServer([{ say: 'One two three four five.', pieces: 5, pace: 30 }])
  const agent = await connect({ url: server.url, token: TOKEN }).create()
  let text = ''
  const run = agent.run('Hi.')
  for await (const event of run)
    if (event.type === 'turn' && event.event.type === 'part-delta') text += event.event.text
  assert.equal(text, 'One two three four five.')
  assert.deepEqual([(await run).finish, (await run).text], ['done', 'One two three four five.'])
})

test('events: whoever shows the text on its way shows all of it once, though it is lost or late', async () => {
  const SAYS = ['One two three four five.', 'Six seven eight.']
  const steps = [
    { say: SAYS[0] ?? '', pieces: 5, pace: 30, call: [{ name: 'count', args: {} }] },
    { say: SAYS[1] ?? '', pieces: 3, pace: 30 },
  ]
  const ways: Readonly<Record<string, (publish: () => void, number: number) => void>> = {
    'all is lost': () => undefined,
    'all is late': (publish) => void setTimeout(publish, 150),
    'the first is lost': (publish, number) => number > 4 && publish(),
    'the last is late': (publish, number) => (number > 4 ? void setTimeout(publish, 150) : publish()),
  }
  for (const [way, change] of Object.entries(ways)) {
    let number = 0
    const { server } = await startTestServer(steps, {
      tools: [count],
      wrapLive: (live) => ({
        ...live,
        publish: (key, event) => change(() => live.publish(key, event), number++),
      }),
    })
    const agent = await connect({ url: server.url, token: TOKEN }).create()
    const run = agent.run('Hi.')
    let text = ''
    for await (const event of run)
      if (event.type === 'turn' && event.event.type === 'part-delta' && event.event.kind === 'text')
        text += event.event.text
    assert.equal((await run).finish, 'done', way)
    if (way === 'the first is lost') assert.ok(text.endsWith(SAYS[1] ?? ''), text)
    else assert.equal(text, SAYS.join(''), way)
  }
})

test('events: a client whose connections break all the time still has a whole run', async () => {
  const { server } = await startTestServer(SCRIPT, { tools: [count] })
  let connections = 0
  const breaking: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!response.url.includes('/events')) return response
    connections++
    // The first connections end after a few bytes.
    const reader = response.body?.getReader()
    let left = connections < 6 ? 300 : Infinity
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const chunk = await reader?.read()
        if (!chunk || chunk.done) return controller.close()
        controller.enqueue(chunk.value.subarray(0, left))
        left -= chunk.value.length
        if (left > 0) return
        await reader?.cancel()
        controller.error(new Error('broken'))
      },
    })
    return new Response(body, { status: response.status, headers: response.headers })
  }
  const agent = await connect({ url: server.url, token: TOKEN, fetch: breaking }).create()
  const run = agent.run('Go.')
  const seqs: number[] = []
  for await (const event of run) if (event.type === 'entry') seqs.push(event.entry.seq)
  assert.ok(connections > 2, String(connections))
  assert.equal((await run).finish, 'done')
  assert.deepEqual(seqs, [...new Set(seqs)])
  assert.deepEqual(
    seqs,
    seqs.map((_, at) => (seqs[0] ?? 0) + at),
  )
})
