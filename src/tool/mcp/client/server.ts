import { getAbortReason } from '../../../model/abort-reason.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { filterObjects, isObject, type JsonObject } from '../../../model/json.ts'
import { toServerAddress, createStoredSignIn, SignInRequiredError } from '../connection/oauth.ts'
import { expandVariables, getServerIdentity, type McpServerConfig, parseTransportConfig } from './server-config.ts'
import { type CallableTool, callServerTool } from './call-tool.ts'
import { McpRequestError } from '../connection/request-error.ts'
import type { ConnectOptions, McpConnection, McpRequestOptions } from '../connection/connect.ts'
import { connectToMcpServer } from '../connection/connect.ts'
import { createLogTail } from './server-log.ts'
import { type McpListName, type McpServerLists, EMPTY_MCP_SERVER_LISTS, readServerLists } from './server-lists.ts'
import type { KeyValueStore } from './key-value-store.ts'
import { defined } from '../../../model/defined.ts'
import { getErrorMessage } from '../../../model/error-message.ts'
import { sha256Hex } from '../../../host/files/sha256.ts'

export type McpServerState =
  | { readonly status: 'starting' }
  | { readonly status: 'ready'; readonly title: string; readonly protocol: string }
  | { readonly status: 'failed'; readonly why: string; readonly signIn?: true }
  | { readonly status: 'closed' }

export type McpServer = ReturnType<typeof createMcpServer>

export interface McpServerOptions extends Omit<
  ConnectOptions,
  'authProvider' | 'fetch' | 'address' | 'isLegacy' | 'timeoutMs' | 'stop'
> {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly listCache: KeyValueStore
  readonly tokenStore: KeyValueStore
  readonly onChange?: () => void
  readonly timeoutMs?: number
  /** Milliseconds before the first reconnect; doubled each time. */
  readonly retryDelayMs?: number
}

/** One server: its cached lists are available at once, its tools as soon as it is connected. */
export function createMcpServer(name: string, config: McpServerConfig, options: McpServerOptions) {
  const { listCache, onChange = () => undefined, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  const key = `${name}-${sha256Hex(getServerIdentity(config)).slice(0, 16)}`
  let state: McpServerState = { status: 'starting' }
  let lists = readCachedLists(listCache, key)
  let current: McpConnection | undefined
  let opening: Promise<void> | undefined
  let failures = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStarted = false
  const stop = new AbortController()
  const log = createLogTail()

  function setState(next: McpServerState): void {
    if (state.status === 'closed') return
    state = next
    onChange()
  }

  function setLists(next: McpServerLists): void {
    lists = next
    cacheLists(listCache, key, next)
    onChange()
  }

  /** One attempt at a time; concurrent callers share it. */
  function open(): Promise<void> {
    clearTimeout(timer)
    isStarted = true
    opening ??= attemptConnect().finally(() => {
      opening = undefined
    })
    opening.catch(() => undefined)
    return opening
  }

  async function attemptConnect(): Promise<void> {
    setState({ status: 'starting' })
    let connection: McpConnection | undefined
    try {
      connection = await connectTo()
      if (state.status === 'closed') throw new Error('the connection was closed')
      const { instructions } = connection
      setLists({ ...(await readServerLists(connection)), ...(instructions !== '' && { instructions }) })
      current = connection
      failures = 0
      const { title, protocol, isLegacy } = connection.serverInfo
      listCache.set(`${key}-kind`, { isOld: isLegacy, at: Date.now() })
      setState({ status: 'ready', title, protocol })
    } catch (error) {
      await connection?.close()
      handleFailure(getErrorMessage(error), error instanceof SignInRequiredError)
      throw error
    }
  }

  async function connectTo(): Promise<McpConnection> {
    const expanded = expandVariables(config, options.env)
    if ('problem' in expanded) throw new Error(expanded.problem)
    const transportConfig = parseTransportConfig(expanded)
    if ('problem' in transportConfig) throw new Error(transportConfig.problem)
    const { oauth } = expanded
    const authTarget =
      transportConfig.kind === 'stdio'
        ? undefined
        : { name, url: transportConfig.url, tokens: options.tokenStore, ...defined({ oauth }) }
    // An authorization header replaces the sign-in.
    const hasAuthHeader = Object.keys(expanded.headers ?? {}).some((header) => header.toLowerCase() === 'authorization')
    const connectOptions: ConnectOptions = {
      ...options,
      timeoutMs,
      stop: stop.signal,
      isLegacy: isKnownLegacy(listCache, key),
      ...(authTarget && { address: toServerAddress(authTarget) }),
      ...(authTarget && !hasAuthHeader && createStoredSignIn(authTarget)),
    }
    const connection = await connectToMcpServer(name, expanded, transportConfig, connectOptions, {
      onListChanged: (list) => void refreshList(list),
      onLog: (line) => log.add(line),
      onLost(why) {
        if (current !== connection) return
        current = undefined
        handleFailure(why)
      },
    })
    return connection
  }

  function handleFailure(why: string, signIn = false): void {
    setState({ status: 'failed', why, ...(signIn && { signIn: true }) })
    if (state.status === 'closed' || signIn || failures >= MAX_RECONNECTS) return
    timer = setTimeout(() => void open(), (options.retryDelayMs ?? DEFAULT_RETRY_DELAY_MS) * 2 ** failures++)
    timer.unref()
  }

  let staleLists = new Set<McpListName>()
  let isRefreshing = false
  /** However often a server reports changes, lists are read one at a time. */
  async function refreshList(list: McpListName): Promise<void> {
    staleLists.add(list)
    if (isRefreshing) return
    isRefreshing = true
    for (let connection = current; staleLists.size > 0 && connection; connection = current) {
      const names = [...staleLists]
      staleLists = new Set()
      await readServerLists(connection, names, lists).then(setLists, () => undefined)
      await delay(LIST_REFRESH_INTERVAL_MS, undefined, { ref: false })
    }
    isRefreshing = false
  }

  /** Resolves when connected; tries again if it failed. Rejects with the reason. */
  async function ready(signal?: AbortSignal): Promise<void> {
    if (state.status === 'closed') throw new McpRequestError('unreachable', `The MCP server ${name} is closed.`)
    if (current) return
    try {
      await withAbort(open(), signal)
    } catch (error) {
      const hint =
        error instanceof SignInRequiredError ? ` (the user can sign in with: dragoman mcp login ${name})` : ''
      const message = `Cannot connect to the MCP server ${name}: ${getErrorMessage(error)}${hint}`
      throw new McpRequestError('unreachable', message, { cause: error })
    }
  }

  async function withConnection<T>(work: (connection: McpConnection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    await ready(signal)
    const connection = current
    if (!connection) throw new McpRequestError('disconnected', 'the connection was closed')
    try {
      return await work(connection)
    } catch (error) {
      if (!isUnknownSession(error)) throw error
      // The server was restarted and has lost the session, so it cannot have run the call.
      if (current === connection) current = undefined
      await connection.close()
      await ready(signal)
      return work(current ?? connection)
    }
  }

  return {
    name,
    config,
    get state(): McpServerState {
      return state
    },
    get lists(): McpServerLists {
      return lists
    },
    get log(): readonly string[] {
      return log.lines()
    },
    start(): void {
      if (!isStarted && !current) void open()
      isStarted = true
    },
    ready,
    request: (method: string, params: JsonObject, limits?: McpRequestOptions) =>
      withConnection((one) => one.request(method, params, limits), limits?.signal),
    call: (tool: CallableTool, input: JsonObject, limits?: McpRequestOptions) =>
      withConnection((one) => callServerTool(one, tool, input, limits), limits?.signal),
    async close(): Promise<void> {
      if (state.status === 'closed') return
      clearTimeout(timer)
      setState({ status: 'closed' })
      state = { status: 'closed' }
      stop.abort()
      const pending = opening?.catch(() => undefined)
      await current?.close()
      current = undefined
      await pending
    },
  }
}

const DEFAULT_TIMEOUT_MS = 60_000
const DEFAULT_RETRY_DELAY_MS = 1000
const MAX_RECONNECTS = 6
/** Milliseconds between reads of changed lists. */
const LIST_REFRESH_INTERVAL_MS = 1000
/** Longer lists are cached only in part: they are read before the first request. */
const MAX_CACHED_CHARS = 500_000
/** A server may have been upgraded; after this time the newer protocol is tried again. */
const LEGACY_RECHECK_MS = 7 * 86_400_000

function isUnknownSession(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 404
}

function readCachedLists(listCache: KeyValueStore, key: string): McpServerLists {
  const cached = listCache.get(key)
  if (!isObject(cached)) return EMPTY_MCP_SERVER_LISTS
  const readList = (list: McpListName) => filterObjects(cached[list]) as JsonObject[]
  const { instructions } = cached
  return {
    tools: readList('tools'),
    prompts: readList('prompts'),
    resources: readList('resources'),
    ...(typeof instructions === 'string' && { instructions }),
  }
}

function cacheLists(
  listCache: KeyValueStore,
  key: string,
  { tools, prompts, resources, instructions }: McpServerLists,
): void {
  let remainingChars = MAX_CACHED_CHARS
  const fitting = (items: readonly JsonObject[]): JsonObject[] =>
    items.filter((item) => (remainingChars -= JSON.stringify(item).length) >= 0)
  listCache.set(key, {
    tools: fitting(tools),
    prompts: fitting(prompts),
    resources: fitting(resources),
    ...defined({ instructions }),
  })
}

function isKnownLegacy(listCache: KeyValueStore, key: string): boolean {
  const cached = listCache.get(`${key}-kind`)
  if (!isObject(cached)) return false
  const { isOld, at } = cached
  return isOld === true && typeof at === 'number' && Date.now() - at < LEGACY_RECHECK_MS
}

function withAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  const cleanup = new AbortController()
  const stopped = new Promise<never>((_done, fail) => {
    const stop = () => fail(new Error('the request was cancelled'))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true, signal: cleanup.signal })
  })
  return Promise.race([work, stopped]).finally(() => cleanup.abort(getAbortReason()))
}
