import { createHash } from 'node:crypto'
import { isObject, type JsonObject } from '../../model/json.ts'
import { addressOf, keptSignIn, SignInNeeded } from './auth.ts'
import { filledIn, identityOf, type McpServerConfig, reachOf } from './config.ts'
import { type Callable, callTool } from './call.ts'
import { connect, type Connection, type RequestLimits, type Surroundings } from './connect.ts'
import { lastLines } from './log.ts'
import { type ListName, type Lists, NO_LISTS, readLists } from './lists.ts'
import type { Shelf } from './shelf.ts'

/** How it stands with a server. */
export type ServerState =
  | { readonly status: 'starting' }
  | { readonly status: 'ready'; readonly title: string; readonly protocol: string }
  | { readonly status: 'failed'; readonly why: string; readonly signIn?: true }
  | { readonly status: 'closed' }

/** One server: its lists at once, as they were the last time, and its work as soon as it is connected. */
export interface Server {
  readonly name: string
  readonly config: McpServerConfig
  readonly state: ServerState
  readonly lists: Lists
  /** The last that it wrote into its log. */
  readonly log: readonly string[]
  /** Begins to connect, if nobody has needed it before. */
  start(): void
  /** Done when it is connected; a sentence says why it is not. One that failed is tried again. */
  ready(signal?: AbortSignal): Promise<void>
  request(method: string, params: JsonObject, limits?: RequestLimits): Promise<Record<string, unknown>>
  call(tool: Callable, input: JsonObject, limits?: RequestLimits): Promise<unknown>
  close(): Promise<void>
}

/** What a server needs of the world around it. */
export interface ServerOptions extends Omit<
  Surroundings,
  'authProvider' | 'fetch' | 'address' | 'isOld' | 'patience' | 'stop'
> {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where lists are kept. */
  readonly shelf: Shelf
  /** Where tokens are kept. */
  readonly tokens: Shelf
  /** Something is otherwise than before. */
  readonly changed?: () => void
  readonly patience?: number
  /** Milliseconds before the first new attempt; each further one waits twice as long. */
  readonly pause?: number
}

/** A server, which connects when it is started or first needed; until then its lists are those of the last time. */
export function serverFor(name: string, config: McpServerConfig, options: ServerOptions): Server {
  const { shelf, changed = () => undefined, patience = PATIENCE } = options
  const key = `${name}-${hashOf(identityOf(config))}`
  let state: ServerState = { status: 'starting' }
  let lists = keptLists(shelf, key)
  let current: Connection | undefined
  let opening: Promise<void> | undefined
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStarted = false
  const stop = new AbortController()
  const log = lastLines()

  function become(next: ServerState): void {
    if (state.status === 'closed') return
    state = next
    changed()
  }

  function take(next: Lists): void {
    lists = next
    keepLists(shelf, key, next)
    changed()
  }

  /** One attempt at a time; whoever wants the server meanwhile waits for the same. */
  function open(): Promise<void> {
    clearTimeout(timer)
    isStarted = true
    opening ??= attempt().finally(() => {
      opening = undefined
    })
    opening.catch(() => undefined)
    return opening
  }

  async function attempt(): Promise<void> {
    become({ status: 'starting' })
    let connection: Connection | undefined
    try {
      connection = await connectTo()
      if (state.status === 'closed') throw new Error('it was closed')
      const { instructions } = connection
      take({ ...(await readLists(connection)), ...(instructions !== '' && { instructions }) })
      current = connection
      failures = 0
      const { title, protocol, isOld } = connection.about
      shelf.set(`${key}-kind`, { isOld, at: Date.now() })
      become({ status: 'ready', title, protocol })
    } catch (error) {
      await connection?.close()
      failed(error instanceof Error ? error.message : String(error), error instanceof SignInNeeded)
      throw error
    }
  }

  async function connectTo(): Promise<Connection> {
    const filled = filledIn(config, options.env)
    if ('problem' in filled) throw new Error(filled.problem)
    const reach = reachOf(filled)
    if ('problem' in reach) throw new Error(reach.problem)
    const { oauth } = filled
    const door =
      reach.kind === 'stdio' ? undefined : { name, url: reach.url, tokens: options.tokens, ...(oauth && { oauth }) }
    // Who has given a word of passage for every request has signed in already.
    const signed = Object.keys(filled.headers ?? {}).some((header) => header.toLowerCase() === 'authorization')
    const around = {
      ...options,
      patience,
      stop: stop.signal,
      isOld: isKnownOld(shelf, key),
      ...(door && { address: addressOf(door) }),
      ...(door && !signed && keptSignIn(door)),
    }
    const connection = await connect(name, filled, reach, around, {
      changed: (list) => void renew(list),
      logged: (line) => log.add(line),
      lost(why) {
        if (current !== connection) return
        current = undefined
        failed(why)
      },
    })
    return connection
  }

  function failed(why: string, signIn = false): void {
    become({ status: 'failed', why, ...(signIn && { signIn: true }) })
    if (state.status === 'closed' || signIn || failures >= MAX_ATTEMPTS) return
    timer = setTimeout(() => void open(), (options.pause ?? PAUSE) * 2 ** failures++)
    timer.unref()
  }

  let renewing = new Set<ListName>()
  let isRenewing = false
  /** However often a server says that a list has changed, it is read once at a time. */
  async function renew(list: ListName): Promise<void> {
    renewing.add(list)
    if (isRenewing) return
    isRenewing = true
    for (let connection = current; renewing.size > 0 && connection; connection = current) {
      const names = [...renewing]
      renewing = new Set()
      await readLists(connection, names, lists).then(take, () => undefined)
      await new Promise((done) => void setTimeout(done, RENEWAL).unref())
    }
    isRenewing = false
  }

  async function ready(signal?: AbortSignal): Promise<void> {
    if (state.status === 'closed') throw new Error(`The server ${name} is closed.`)
    if (current) return
    try {
      await abortable(open(), signal)
    } catch (error) {
      const sentence = `The server ${name} cannot be reached: ${plain(error)}.${wayOut(name, error)}`
      throw new Error(sentence, { cause: error })
    }
  }

  async function within<T>(work: (connection: Connection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    await ready(signal)
    const connection = current
    if (!connection) throw new Error(`The server ${name} went away.`)
    try {
      return await work(connection)
    } catch (error) {
      if (!isForgotten(error)) throw error
      // It was started anew and knows nothing of us; so it cannot have done anything either.
      if (current === connection) current = undefined
      await connection.close()
      await ready(signal)
      return work(current ?? connection)
    }
  }

  return {
    name,
    config,
    get state() {
      return state
    },
    get lists() {
      return lists
    },
    get log() {
      return log.lines()
    },
    start() {
      if (!isStarted && !current) void open()
      isStarted = true
    },
    ready,
    request: (method, params, limits) => within((one) => one.request(method, params, limits), limits?.signal),
    call: (tool, input, limits) => within((one) => callTool(one, tool, input, limits), limits?.signal),
    async close() {
      if (state.status === 'closed') return
      clearTimeout(timer)
      become({ status: 'closed' })
      state = { status: 'closed' }
      stop.abort()
      const pending = opening?.catch(() => undefined)
      await current?.close()
      current = undefined
      await pending
    },
  }
}

const PATIENCE = 60_000
const PAUSE = 1000
const MAX_ATTEMPTS = 6
/** Lists are read again at most this often, in milliseconds. */
const RENEWAL = 1000
/** Longer lists are kept only in part: they are read before the first request. */
const MAX_KEPT = 500_000
/** A server may have become a newer one; after so long it is asked again. */
const ASK_AGAIN = 7 * 86_400_000

/** Does a server say that it does not know our session? */
function isForgotten(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 404
}

function plain(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '')
}

function wayOut(name: string, error: unknown): string {
  return error instanceof SignInNeeded ? ` The person can sign in with: dragoman mcp login ${name}` : ''
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

function keptLists(shelf: Shelf, key: string): Lists {
  const kept = shelf.get(key)
  if (!isObject(kept)) return NO_LISTS
  const listed = (list: ListName): JsonObject[] => {
    const value = kept[list]
    return Array.isArray(value) ? value.filter((item) => isObject(item)) : []
  }
  const { instructions } = kept
  return {
    tools: listed('tools'),
    prompts: listed('prompts'),
    resources: listed('resources'),
    ...(typeof instructions === 'string' && { instructions }),
  }
}

function keepLists(shelf: Shelf, key: string, { tools, prompts, resources, instructions }: Lists): void {
  let room = MAX_KEPT
  const fitting = (items: readonly JsonObject[]): JsonObject[] =>
    items.filter((item) => (room -= JSON.stringify(item).length) >= 0)
  shelf.set(key, {
    tools: fitting(tools),
    prompts: fitting(prompts),
    resources: fitting(resources),
    ...(instructions !== undefined && { instructions }),
  })
}

function isKnownOld(shelf: Shelf, key: string): boolean {
  const kept = shelf.get(`${key}-kind`)
  if (!isObject(kept)) return false
  const { isOld, at } = kept
  return isOld === true && typeof at === 'number' && Date.now() - at < ASK_AGAIN
}

function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  const over = new AbortController()
  const stopped = new Promise<never>((_done, fail) => {
    const stop = () => fail(new Error('it was stopped'))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true, signal: over.signal })
  })
  return Promise.race([work, stopped]).finally(() => over.abort())
}
