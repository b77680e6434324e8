import type { Companions } from '../../host/companion.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { forModel } from '../../policy/terminal.ts'
import type { ServerAddress } from './address.ts'
import { SignInNeeded } from './auth.ts'
import { clientFor } from './client.ts'
import { MOST_TIMES, withDeadline } from './deadline.ts'
import type { McpServerConfig, Reach } from './config.ts'
import { LIST_NAMES, type ListName } from './lists.ts'
import { withoutDepths } from './message.ts'
import type { Questions } from './questions.ts'
import type { Client, FetchLike, OAuthClientProvider, StandardSchemaV1 } from './sdk.ts'
import { stdioTransport, type StdioTransport } from './stdio.ts'
import { type Attempt, http, sse } from './web.ts'

/** What a connection needs of the world around it. */
export interface Surroundings {
  /** The folders that the server is told to work in. */
  readonly folders: readonly string[]
  /** Starts programs; without it there are only servers with an address. */
  readonly open?: Companions['open']
  readonly questions?: Questions
  /** Signs requests to a server with an address. */
  readonly authProvider?: OAuthClientProvider
  /** Sends requests to a server with an address. */
  readonly fetch?: FetchLike
  /** Where it is; a program is on this machine. */
  readonly address?: ServerAddress
  /** A server that is known to be of the older kind is not asked whether it is of the newer one. */
  readonly isOld?: boolean
  /** Milliseconds until it must have answered. */
  readonly patience: number
  /** Nobody wants it any more. */
  readonly stop: AbortSignal
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
  /** What it wants a model to know of its tools; not very much of it. */
  readonly instructions: string
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
  const giveUp = (reason: string): void => {
    late.abort(new Error(reason))
    void close()
  }
  const timer = setTimeout(() => giveUp(`it did not answer within ${around.patience / 1000} s`), around.patience)
  const stopped = (): void => giveUp('it was closed')
  around.stop.addEventListener('abort', stopped, { once: true })
  try {
    if (around.stop.aborted) throw new Error('it was closed')
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
    around.stop.removeEventListener('abort', stopped)
  }
  state = 'open'
  return connectionOf(client, close)
}

/** Whatever comes back is an answer; what is in it is looked at where it is used. */
const ANYTHING: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'dragoman',
    validate: (value) => ({ value: isObject(value) ? withoutDepths(value) : {} }),
  },
}

function connectionOf(client: Client, close: () => Promise<void>): Connection {
  const { title, name, version } = client.getServerVersion() ?? { name: 'unknown', version: '' }
  return {
    client,
    instructions: advice(client.getInstructions()),
    offers: LIST_NAMES.filter((list) => client.getServerCapabilities()?.[list] !== undefined),
    about: {
      title: [title ?? name, version].filter((word) => word !== '').join(' '),
      protocol: client.getNegotiatedProtocolVersion() ?? 'unknown',
      isOld: client.getProtocolEra() !== 'modern',
    },
    request: (method, params, limits = {}) =>
      withDeadline(limits, ({ timeout, signal, moved }) =>
        client.request({ method, params }, ANYTHING, {
          timeout,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: timeout * MOST_TIMES,
          signal,
          ...(limits.progress && {
            onprogress(step) {
              moved()
              limits.progress?.(progressText(step as unknown as JsonObject))
            },
          }),
        }),
      ),
    close,
  }
}

/** Characters of its instructions that a model is told. */
const MAX_ADVICE = 4000

function advice(text = ''): string {
  const visible = forModel(text.slice(0, MAX_ADVICE)).trim()
  return text.length > MAX_ADVICE ? `${visible} …` : visible
}

function progressText({ progress, total, message }: Record<string, Json | undefined>): string {
  const share = typeof total === 'number' ? `${Number(progress)} of ${total}` : `${Number(progress)}`
  return typeof message === 'string' && message !== '' ? `${message} (${share})` : share
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
