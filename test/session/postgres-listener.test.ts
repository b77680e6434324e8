import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  listeningClient,
  type PostgresConnection,
  type PostgresPool,
} from '../../src/session/store/postgres-listener.ts'
import { until } from '../support/alive.ts'

/** A pool whose connections note what they execute, and whether they had to execute two queries at once. */
function createFakePool() {
  const connections: { readonly channels: Set<string>; notify(channel: string, payload: string): void }[] = []
  const queries: string[] = []
  let overlaps = 0
  let isFailing = false

  function createConnection(): PostgresConnection {
    const listeners: ((message: { channel: string; payload?: string }) => void)[] = []
    const channels = new Set<string>()
    let isBusy = false
    connections.push({ channels, notify: (channel, payload) => listeners.forEach((one) => one({ channel, payload })) })
    return {
      async query(text) {
        if (isBusy) overlaps++
        isBusy = true
        queries.push(text)
        await pause(5)
        isBusy = false
        if (isFailing) throw new Error('no answer in time')
        for (const [, not, channel = ''] of text.matchAll(/(un)?listen "(\w+)"/g))
          if (not) channels.delete(channel)
          else channels.add(channel)
      },
      on(event: string, listener: (message: never) => void) {
        if (event === 'notification') listeners.push(listener as (typeof listeners)[number])
      },
      release: () => undefined,
    }
  }

  const pool: PostgresPool = {
    query: () => Promise.resolve({ rows: [] }),
    connect: () => Promise.resolve(createConnection()),
  }
  return {
    client: listeningClient(pool),
    connections,
    queries,
    countOverlaps: () => overlaps,
    setFailing: (value: boolean) => (isFailing = value),
  }
}

const CHANNELS = Array.from({ length: 50 }, (_, at) => `channel_${at}`)

test('the connection for notifications executes one query at a time, and few for many channels', async () => {
  const { client, connections, queries, countOverlaps } = createFakePool()
  const [first] = await Promise.all([client.listen?.('first', () => undefined)])
  const all = await Promise.all(CHANNELS.map((channel) => client.listen?.(channel, () => undefined)))
  assert.deepEqual(connections[0]?.channels, new Set(['first', ...CHANNELS]))
  await Promise.all(all.slice(0, 49).map((one) => one?.close()))
  assert.deepEqual(connections[0]?.channels, new Set(['first', 'channel_49']))
  assert.equal(countOverlaps(), 0)
  assert.ok(queries.length < 10, `${queries.length} queries`)
  await all[49]?.close()
  await first?.close()
})

test('a channel whose statement got no answer is listened to on another connection, and hears that it may have missed some', async () => {
  const { client, connections, setFailing } = createFakePool()
  const heard: string[] = []
  const first = await client.listen?.('first', () => undefined)
  setFailing(true)
  const second = await client.listen?.('second', (payload) => heard.push(payload))
  setFailing(false)
  await until(() => connections.at(-1)?.channels.has('second') === true && heard.includes(''))
  assert.ok(connections.length > 1)
  connections.at(-1)?.notify('second', 'hello')
  assert.deepEqual(heard.at(-1), 'hello')
  await second?.close()
  await first?.close()
})
