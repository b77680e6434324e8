import { pathToFileURL } from 'node:url'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { SignInNeeded } from './auth.ts'
import type { McpServerConfig, Reach } from './config.ts'
import { limitedFetch } from './limits.ts'
import { LIST_NAMES, type ListName } from './lists.ts'
import { logLine } from './log.ts'
import { NOBODY, type Questions, samplingOf } from './questions.ts'
import type { Client, OAuthClientProvider, StandardSchemaV1, Transport } from './sdk.ts'
import { stdioTransport, type StdioTransport } from './stdio.ts'
import type { Companions } from '../../host/companion.ts'

/** What a connection needs of the world around it. */
export interface Surroundings {
  /** The folders that the server is told to work in. */
  readonly folders: readonly string[]
  /** Starts programs; without it there are only servers with an address. */
  readonly open?: Companions['open']
  readonly questions?: Questions
  /** Signs requests to a server with an address. */
  readonly authProvider?: OAuthClientProvider
  /** A server that is known to be of the older kind is not asked whether it is of the newer one. */
  readonly isOld?: boolean
  /** Milliseconds until it must have answered. */
  readonly patience: number
}

/** What a server tells without being asked. */
export interface Hearing {
  readonly changed: (list: ListName) => void
  readonly logged: (line: string) => void
  /** The connection is gone, and not by our will. */
  readonly lost: (why: string) => void
}

/** A connection to a server. */
export interface Connection {
  readonly offers: readonly ListName[]
  /** Who it says it is, which protocol it speaks, and whether that is of the older kind. */
  readonly about: { readonly title: string; readonly protocol: string; readonly isOld: boolean }
  request(method: string, params: JsonObject, options?: RequestLimits): Promise<Record<string, unknown>>
  /** Calls a tool that wants some of its arguments in headers. */
  readonly client: Client
  close(): Promise<void>
}

/** How long a request may take, and who hears of its progress. */
export interface RequestLimits {
  readonly timeout?: number
  readonly signal?: AbortSignal
  readonly progress?: (text: string) => void
}

/** Connects to a server by the way that its settings name. */
export async function connect(
  name: string,
  config: McpServerConfig,
  reach: Reach,
  around: Surroundings,
  hearing: Hearing,
): Promise<Connection> {
  const attempt = (make: (fail: (why: string) => void) => Promise<Attempt>, isOld = around.isOld ?? false) =>
    connectOnce(name, make, around, hearing, isOld)
  if (reach.kind !== 'stdio') {
    if (reach.kind === 'sse') return attempt((fail) => sse(reach.url, config, around, fail))
    try {
      return await attempt((fail) => http(reach.url, config, around, fail))
    } catch (error) {
      if (reach.kind === 'http' || error instanceof SignInNeeded) throw error
      // Who does not say what it is may be of the first kind of all.
      return await attempt((fail) => sse(reach.url, config, around, fail), true).catch(() => {
        throw error
      })
    }
  }
  const { open } = around
  if (!open) throw new Error('programs cannot be started here')
  const program = {
    command: reach.command,
    args: reach.args,
    folder: config.cwd ?? around.folders[0] ?? '.',
    ...(config.env && { env: config.env }),
    ...(config.trust !== undefined && { trusted: config.trust }),
    ...(config.network !== undefined && { network: config.network }),
  }
  let child: StdioTransport | undefined
  const make = (): Promise<Attempt> => {
    child = stdioTransport(open, program, hearing.logged)
    const transport = child
    return Promise.resolve({ transport, why: () => endOf(transport) })
  }
  try {
    return await attempt(make)
  } catch (error) {
    // Some older servers end when they are asked something that they do not know.
    if (around.isOld || child?.end === undefined) throw error
    return attempt(make, true)
  }
}

interface Attempt {
  readonly transport: Transport
  /** Why it went away. */
  readonly why: () => string
}

async function connectOnce(
  name: string,
  make: (fail: (why: string) => void) => Promise<Attempt>,
  around: Surroundings,
  hearing: Hearing,
  isOld: boolean,
): Promise<Connection> {
  const client = await clientFor(name, around, hearing)
  let state: 'opening' | 'open' | 'closed' = 'opening'
  let failure: string | undefined
  const { transport, why } = await make((reason) => {
    failure ??= reason
    void client.close().catch(() => undefined)
  })
  Object.assign(client, {
    onclose() {
      if (state === 'open') hearing.lost(failure ?? why())
      state = 'closed'
    },
  })
  const close = async (): Promise<void> => {
    state = 'closed'
    await client.close().catch(() => undefined)
    await transport.close().catch(() => undefined)
  }
  const late = new AbortController()
  const timer = setTimeout(() => {
    late.abort(new Error(`it did not answer within ${around.patience / 1000} s`))
    void close()
  }, around.patience)
  try {
    const options = {
      timeout: around.patience,
      signal: late.signal,
      ...(isOld && { prior: { kind: 'legacy' as const } }),
    }
    await Promise.race([
      client.connect(transport, options),
      new Promise<never>((_done, fail) => {
        late.signal.addEventListener('abort', () => fail(late.signal.reason), { once: true })
      }),
    ])
    if ((state as string) === 'closed') throw new Error(failure ?? why())
  } catch (error) {
    const ended = failure ?? (late.signal.aborted ? undefined : why())
    await close()
    throw await plainError(error, ended)
  } finally {
    clearTimeout(timer)
  }
  state = 'open'
  return connectionOf(client, close)
}

async function clientFor(name: string, around: Surroundings, hearing: Hearing): Promise<Client> {
  const { Client: SdkClient, CfWorkerJsonSchemaValidator, ProtocolError } = await import('./sdk.ts')
  const { questions = NOBODY, folders } = around
  const changed = (list: ListName) => ({ autoRefresh: false, debounceMs: 300, onChanged: () => hearing.changed(list) })
  const client = new SdkClient(
    { name: 'dragoman', version: '1' },
    {
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(PROBE, around.patience / 2) } },
      capabilities: {
        roots: { listChanged: false },
        sampling: {},
        elicitation: { form: { applyDefaults: true }, url: {} },
      },
      jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
      listChanged: { tools: changed('tools'), prompts: changed('prompts'), resources: changed('resources') },
    },
  )
  client.setRequestHandler('roots/list', () => ({
    roots: folders.map((folder) => ({ uri: pathToFileURL(folder).href, name: folder.split('/').at(-1) ?? folder })),
  }))
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
    const { message } = params
    const wish =
      'url' in params ? { message, url: params.url } : { message, form: params.requestedSchema as JsonObject }
    const answer = await questions.elicit(name, wish, mcpReq.signal)
    return answer as { action: 'accept'; content?: Record<string, string> }
  })
  client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
    const answer = await questions.sample(name, samplingOf(params as JsonObject), mcpReq.signal)
    if ('refused' in answer) throw new ProtocolError(REFUSED, answer.refused)
    const { text, model, stop } = answer
    return { model, role: 'assistant' as const, stopReason: stop, content: { type: 'text' as const, text } }
  })
  client.setNotificationHandler('notifications/message', ({ params }) => {
    hearing.logged(logLine(params))
  })
  return client
}

/** A server of the newer kind answers at once; one that is silent is of the older. */
const PROBE = 10_000
/** What the protocol says when the person does not want it. */
const REFUSED = -1

/** Whatever comes back is an answer; what is in it is looked at where it is used. */
const ANYTHING: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'dragoman',
    validate: (value) => ({ value: isObject(value) ? value : {} }),
  },
}

function connectionOf(client: Client, close: () => Promise<void>): Connection {
  const { title, name, version } = client.getServerVersion() ?? { name: 'unknown', version: '' }
  return {
    client,
    offers: LIST_NAMES.filter((list) => client.getServerCapabilities()?.[list] !== undefined),
    about: {
      title: [title ?? name, version].filter((word) => word !== '').join(' '),
      protocol: client.getNegotiatedProtocolVersion() ?? 'unknown',
      isOld: client.getProtocolEra() !== 'modern',
    },
    request: (method, params, { timeout = LIST_TIMEOUT, signal, progress } = {}) =>
      client.request({ method, params }, ANYTHING, {
        timeout,
        resetTimeoutOnProgress: true,
        maxTotalTimeout: timeout * 6,
        ...(signal && { signal }),
        ...(progress && {
          onprogress: (step) => progress(progressText(step as unknown as JsonObject)),
        }),
      }),
    close,
  }
}

const LIST_TIMEOUT = 60_000

function progressText({ progress, total, message }: Record<string, Json | undefined>): string {
  const share = typeof total === 'number' ? `${Number(progress)} of ${total}` : `${Number(progress)}`
  return typeof message === 'string' && message !== '' ? `${message} (${share})` : share
}

async function http(
  url: URL,
  config: McpServerConfig,
  { authProvider }: Surroundings,
  fail: (why: string) => void,
): Promise<Attempt> {
  const { StreamableHTTPClientTransport } = await import('./sdk.ts')
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: limitedFetch(fail),
    ...(config.headers && { requestInit: { headers: config.headers } }),
    ...(authProvider && { authProvider }),
  })
  const send = transport.send.bind(transport)
  const close = transport.close.bind(transport)
  return {
    why: () => 'the connection was closed',
    transport: Object.assign(transport, {
      send: (message: Parameters<typeof send>[0], options: Parameters<typeof send>[1]) => {
        const id = 'id' in message && 'method' in message ? message.id : undefined
        if (id === undefined) return send(message, options)
        // An answer whose stream broke off never comes: without this, whoever waits for it waits for ever.
        const error = { code: -32_000, message: 'the connection broke before the answer came' }
        const onRequestStreamEnd = () => transport.onmessage?.({ jsonrpc: '2.0', id, error })
        return send(message, { onRequestStreamEnd, ...options })
      },
      async close() {
        await Promise.race([transport.terminateSession().catch(() => undefined), pause(500)])
        await close()
      },
    }),
  }
}

async function sse(
  url: URL,
  config: McpServerConfig,
  { authProvider }: Surroundings,
  fail: (why: string) => void,
): Promise<Attempt> {
  const { SSEClientTransport } = await import('./sdk.ts')
  const transport = new SSEClientTransport(url, {
    fetch: limitedFetch(fail),
    ...(config.headers && { requestInit: { headers: config.headers } }),
    ...(authProvider && { authProvider }),
  })
  return { transport, why: () => 'the connection was closed' }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, ms).unref())
}

function endOf(transport: StdioTransport): string {
  const words = transport.lastWords().split('\n').slice(-5).join('\n').slice(-600)
  return `it ${transport.end ?? 'was closed'}${words === '' ? '' : `: ${words}`}`.replace(/^it it /, 'it ')
}

/** What went wrong, in words that a person can do something with. */
async function plainError(error: unknown, ended: string | undefined): Promise<Error> {
  const { SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } = await import('./sdk.ts')
  if (error instanceof SignInNeeded) return error
  if (error instanceof UnauthorizedError) return new SignInNeeded()
  if (error instanceof SdkHttpError) {
    const { status } = error
    if (status === 401) return new SignInNeeded()
    return new Error(`it answered with status ${String(status)}${status === 404 ? ': there is no such address' : ''}`)
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed && ended !== undefined)
    return new Error(ended)
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return new Error(error instanceof Error ? `${error.message}${cause}` : String(error))
}
