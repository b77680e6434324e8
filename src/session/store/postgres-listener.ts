import type { PostgresClient } from './postgres-client.ts'

/** What `listeningClient` needs of a `Pool` of `pg`. */
export interface PostgresPool extends PostgresClient {
  connect(): Promise<PostgresConnection>
}

/** What it needs of a connection of the pool. */
export interface PostgresConnection {
  query(text: string): Promise<unknown>
  on(event: 'notification', listener: (message: { channel: string; payload?: string | undefined }) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  release(destroy?: boolean): void
}

/**
 * Adds `listen` to a `Pool` of `pg`. It keeps one connection of the pool for all channels, from the first listener until the
 * last one has ended, and makes another one when it is lost. PgBouncer in transaction mode cannot do that.
 */
export function listeningClient(pool: PostgresPool): PostgresClient {
  const found = clients.get(pool) ?? createListeningClient(pool)
  clients.set(pool, found)
  return found
}

/** A second connection of the same pool would listen to the same. */
const clients = new WeakMap<PostgresPool, PostgresClient>()

function createListeningClient(pool: PostgresPool): PostgresClient {
  const channels = new Map<string, Set<(payload: string) => void>>()
  /** The connection that listens to all channels. */
  let connection: PostgresConnection | undefined
  let running: Promise<void> | undefined
  const onConnected: (() => void)[] = []
  /** Ends a pause, and the use of a connection. */
  let stop = (): void => undefined

  /** Keeps a connection for as long as somebody listens. */
  async function run(): Promise<void> {
    for (let pauseMs = MIN_PAUSE_MS; channels.size > 0; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      const wasConnected = await useConnection().catch(() => false)
      if (wasConnected) pauseMs = MIN_PAUSE_MS
      if (channels.size > 0) await pause(pauseMs)
    }
    running = undefined
  }

  /** Resolves when the connection is lost, or nobody listens any more. */
  async function useConnection(): Promise<boolean> {
    const opened = await pool.connect()
    let healthTimer: NodeJS.Timeout | undefined
    try {
      const ended = new Promise<void>((resolve) => {
        stop = resolve
        opened.on('error', () => resolve())
        opened.on('end', () => resolve())
        // A connection that a firewall has forgotten reports nothing.
        healthTimer = setInterval(() => void checkHealth(opened).catch(() => resolve()), HEALTH_INTERVAL_MS).unref()
      })
      opened.on('notification', ({ channel, payload = '' }) => {
        // An empty payload would mean that some were missed.
        if (payload !== '') for (const onNotify of channels.get(channel) ?? []) onNotify(payload)
      })
      for (const channel of channels.keys()) await opened.query(`listen "${channel}"`)
      connection = opened
      for (const resolve of onConnected.splice(0)) resolve()
      for (const listeners of channels.values()) for (const onNotify of listeners) onNotify('')
      if (channels.size > 0) await ended
      return true
    } finally {
      connection = undefined
      clearInterval(healthTimer)
      opened.release(true)
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      stop = resolve
      setTimeout(resolve, ms).unref()
    })
  }

  async function close(channel: string, onNotify: (payload: string) => void): Promise<void> {
    const listeners = channels.get(channel)
    if (!listeners?.delete(onNotify) || listeners.size > 0) return
    channels.delete(channel)
    if (channels.size > 0) return void (await connection?.query(`unlisten "${channel}"`).catch(() => undefined))
    stop()
    await running
  }

  return {
    query: (text, values) => pool.query(text, values),
    async listen(channel, onNotify) {
      if (!/^[a-z_][a-z0-9_]{0,62}$/.test(channel)) throw new TypeError(`“${channel}” is not a valid name of a channel`)
      const listener = (payload: string): void => onNotify(payload)
      const listeners = channels.get(channel) ?? new Set()
      channels.set(channel, listeners.add(listener))
      running ??= run()
      if (!connection) await new Promise<void>((resolve) => onConnected.push(resolve))
      // If it fails, the connection is lost, and the next one listens to all channels.
      else if (listeners.size === 1) await connection.query(`listen "${channel}"`).catch(() => undefined)
      return { close: () => close(channel, listener) }
    },
  }
}

async function checkHealth(connection: PostgresConnection): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), HEALTH_TIMEOUT_MS).unref()
  })
  await Promise.race([connection.query('select'), timeout])
  clearTimeout(timer)
}

const MIN_PAUSE_MS = 50
const MAX_PAUSE_MS = 2000
const HEALTH_INTERVAL_MS = 20_000
const HEALTH_TIMEOUT_MS = 10_000
