import type { PgClient } from './database.ts'

/** Messages between processes by LISTEN and NOTIFY. They are not stored: what must not be lost is in a table. */
export interface Notifications {
  /** Calls back with each payload, and with an empty text when some may have been missed, as after a reconnection. */
  listen(channel: string, onNotify: (payload: string) => void): { stop(): void }
  close(): Promise<void>
}

/**
 * One connection for all channels of this process. It is made with the first channel, checked while there is one, and made
 * again when it is lost.
 */
export function createNotifications(createClient: () => PgClient): Notifications {
  const listeners = new Map<string, Set<(payload: string) => void>>()
  let connection: Promise<PgClient> | undefined
  let timer: NodeJS.Timeout | undefined
  let pause = MIN_PAUSE_MS
  let isClosed = false

  async function connect(): Promise<PgClient> {
    const client = createClient()
    client.on('error', () => lose(client))
    client.on('end', () => lose(client))
    client.on('notification', ({ channel, payload = '' }) => call(channel, payload))
    try {
      await client.connect()
      for (const channel of listeners.keys()) await client.query(`listen "${channel}"`)
    } catch (error) {
      void client.end().catch(() => undefined)
      throw error
    }
    return client
  }

  /** Connects unless that was done. */
  function ensure(): void {
    if (isClosed || connection || listeners.size === 0) return
    clearTimeout(timer)
    const connecting = connect()
    connection = connecting
    connecting.then(
      (client) => {
        pause = MIN_PAUSE_MS
        current = client
        schedule(() => check(client), CHECK_MS)
        for (const channel of listeners.keys()) call(channel, '')
      },
      () => {
        if (connection === connecting) connection = undefined
        schedule(ensure, pause)
        pause = Math.min(pause * 2, MAX_PAUSE_MS)
      },
    )
  }
  let current: PgClient | undefined

  function lose(client: PgClient): void {
    if (current !== client) return
    current = undefined
    connection = undefined
    void client.end().catch(() => undefined)
    schedule(ensure, MIN_PAUSE_MS)
  }

  /** A connection that was cut off says nothing by itself. */
  function check(client: PgClient): void {
    Promise.resolve(client.query('select 1')).then(
      () => current === client && schedule(() => check(client), CHECK_MS),
      () => lose(client),
    )
  }

  function schedule(action: () => void, ms: number): void {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(action, ms).unref()
  }

  function call(channel: string, payload: string): void {
    for (const listener of [...(listeners.get(channel) ?? [])]) listener(payload)
  }

  /** Sends LISTEN or UNLISTEN, as is right when it is sent. */
  function update(channel: string): void {
    if (!connection) return ensure()
    void connection
      .then((client) => client.query(`${listeners.has(channel) ? 'listen' : 'unlisten'} "${channel}"`))
      .then(() => call(channel, ''))
      .catch(() => current && lose(current))
  }

  return {
    listen(channel, onNotify) {
      const all = listeners.get(channel) ?? new Set()
      const one = (payload: string): void => onNotify(payload)
      all.add(one)
      if (all.size === 1) {
        listeners.set(channel, all)
        update(channel)
      }
      return {
        stop() {
          if (!all.delete(one) || all.size > 0) return
          listeners.delete(channel)
          if (current) update(channel)
        },
      }
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      listeners.clear()
      const client = await connection?.catch(() => undefined)
      current = undefined
      await client?.end().catch(() => undefined)
    },
  }
}

const CHECK_MS = 5000
const MIN_PAUSE_MS = 50
const MAX_PAUSE_MS = 1000
