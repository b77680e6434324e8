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
  /** Sends statements on the connection that listens to all channels. */
  let send: StatementSender | undefined
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
      const ended = new Promise<void>((resolve) => (stop = resolve))
      const end = stop
      opened.on('error', end)
      opened.on('end', end)
      const sendOn = createStatementSender(opened, end)
      // A connection that a firewall has forgotten reports nothing.
      healthTimer = setInterval(() => void checkHealth(sendOn).catch(end), HEALTH_INTERVAL_MS).unref()
      opened.on('notification', ({ channel, payload = '' }) => {
        // An empty payload would mean that some were missed.
        if (payload !== '') for (const onNotify of channels.get(channel) ?? []) onNotify(payload)
      })
      const listened = new Set<string>()
      // Others may be added meanwhile.
      for (let missing = [...channels.keys()]; missing.length > 0;) {
        await Promise.all(missing.map((channel) => sendOn(`listen "${channel}"`)))
        for (const channel of missing) listened.add(channel)
        missing = [...channels.keys()].filter((channel) => !listened.has(channel))
      }
      send = sendOn
      for (const resolve of onConnected.splice(0)) resolve()
      for (const listeners of channels.values()) for (const onNotify of listeners) onNotify('')
      if (channels.size > 0) await ended
      return true
    } finally {
      send = undefined
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
    if (channels.size > 0) return void (await send?.(`unlisten "${channel}"`).catch(() => undefined))
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
      if (!send) await new Promise<void>((resolve) => onConnected.push(resolve))
      // If it fails, the connection is given up, and the next one listens to all channels.
      else if (listeners.size === 1) await send(`listen "${channel}"`).catch(() => undefined)
      return { close: () => close(channel, listener) }
    },
  }
}

type StatementSender = (statement: string) => Promise<unknown>

/** A connection executes one query at a time; statements that wait for it are sent together. */
function createStatementSender(connection: PostgresConnection, onFailure: () => void): StatementSender {
  let sent: Promise<unknown> = Promise.resolve()
  let next: { readonly statements: string[]; readonly done: Promise<unknown> } | undefined
  return (statement) => {
    if (next) {
      next.statements.push(statement)
      return next.done
    }
    const statements = [statement]
    const done = sent
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return connection.query(statements.join('; '))
      })
    done.catch(onFailure)
    next = { statements, done }
    sent = done
    return done
  }
}

async function checkHealth(send: StatementSender): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), HEALTH_TIMEOUT_MS).unref()
  })
  await Promise.race([send('select'), timeout])
  clearTimeout(timer)
}

const MIN_PAUSE_MS = 50
const MAX_PAUSE_MS = 2000
const HEALTH_INTERVAL_MS = 20_000
const HEALTH_TIMEOUT_MS = 10_000
