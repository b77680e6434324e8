import type { StdioProcesses } from '../../../host/process/stdio-process.ts'
import { isObject, type Json, type JsonObject } from '../../../model/json.ts'
import { sanitizeForModel } from '../../../policy/text/sanitize-for-model.ts'
import type { McpServerAddress } from './server-address.ts'
import { SignInRequiredError } from './oauth.ts'
import { createMcpClient } from './client.ts'
import { MAX_TIMEOUT_FACTOR, withRequestDeadline } from './request-deadline.ts'
import type { McpServerConfig, McpTransportConfig } from '../client/server-config.ts'
import { MCP_LIST_NAMES, type McpListName } from '../client/server-lists.ts'
import { truncateDeepJson } from './json-rpc.ts'
import type { McpRequestHandler } from './request-handler.ts'
import type { Client, FetchLike, OAuthClientProvider, StandardSchemaV1 } from './sdk.ts'
import { createStdioTransport, type StdioTransport } from './stdio-transport.ts'
import { type TransportAttempt, createHttpTransport, createSseTransport } from './http-transports.ts'
import { defined } from '../../../model/defined.ts'

export interface ConnectOptions {
  readonly folders: readonly string[]
  /** Starts programs; without it only servers with a URL are possible. */
  readonly openProcess?: StdioProcesses['open']
  readonly requestHandler?: McpRequestHandler
  /** For a server with a URL. */
  readonly authProvider?: OAuthClientProvider
  readonly fetch?: FetchLike
  /** The URL of the server; a program is local. */
  readonly address?: McpServerAddress
  /** Known to use the older protocol, so the newer one is not tried. */
  readonly isLegacy?: boolean
  /** Milliseconds to connect. */
  readonly timeoutMs: number
  readonly stop: AbortSignal
}

export interface ConnectionEvents {
  readonly onListChanged: (list: McpListName) => void
  readonly onLog: (line: string) => void
  /** The connection was lost; not called after close(). */
  readonly onLost: (why: string) => void
}

export type McpConnection = ReturnType<typeof createConnection>

export interface McpRequestOptions {
  readonly timeout?: number
  readonly signal?: AbortSignal
  readonly progress?: (text: string) => void
}

export async function connectToMcpServer(
  name: string,
  config: McpServerConfig,
  transportConfig: McpTransportConfig,
  context: ConnectOptions,
  events: ConnectionEvents,
): Promise<McpConnection> {
  const attempt = (
    createAttempt: (fail: (why: string) => void) => Promise<TransportAttempt>,
    isLegacy = context.isLegacy ?? false,
  ) => attemptConnection(name, createAttempt, context, events, isLegacy)
  if (transportConfig.kind !== 'stdio') {
    if (transportConfig.kind === 'sse')
      return attempt((fail) => createSseTransport(transportConfig.url, config, context, fail))
    transportConfig.kind satisfies 'http' | 'http-or-sse'
    try {
      return await attempt((fail) => createHttpTransport(transportConfig.url, config, context, fail))
    } catch (error) {
      if (transportConfig.kind === 'http' || error instanceof SignInRequiredError) throw error
      // A server without a type may use the old SSE transport.
      return await attempt((fail) => createSseTransport(transportConfig.url, config, context, fail), true).catch(() => {
        throw error
      })
    }
  }
  const { openProcess } = context
  if (!openProcess) throw new Error('this host cannot start programs')
  const program = {
    command: transportConfig.command,
    args: transportConfig.args,
    folder: config.cwd ?? context.folders[0] ?? '.',
    ...defined({ env: config.env, trusted: config.trust, network: config.network }),
  }
  let child: StdioTransport | undefined
  const createAttempt = (): Promise<TransportAttempt> => {
    child = createStdioTransport(openProcess, program, events.onLog)
    const transport = child
    return Promise.resolve({ transport, getCloseReason: () => describeExit(transport) })
  }
  try {
    return await attempt(createAttempt)
  } catch (error) {
    // Some older servers exit on an unknown request.
    if (context.isLegacy || child?.exitReason === undefined) throw error
    return attempt(createAttempt, true)
  }
}

async function attemptConnection(
  name: string,
  createAttempt: (fail: (why: string) => void) => Promise<TransportAttempt>,
  context: ConnectOptions,
  events: ConnectionEvents,
  isLegacy: boolean,
): Promise<McpConnection> {
  const client = await createMcpClient(name, context, events)
  let state: 'opening' | 'open' | 'closed' = 'opening'
  let failure: string | undefined
  const { transport, getCloseReason } = await createAttempt((reason) => {
    failure ??= reason
    void client.close().catch(() => undefined)
  })
  Object.assign(client, {
    onclose() {
      if (state === 'open') events.onLost(failure ?? getCloseReason())
      state = 'closed'
    },
  })
  const close = async (): Promise<void> => {
    state = 'closed'
    await client.close().catch(() => undefined)
    await transport.close().catch(() => undefined)
  }
  const timeoutController = new AbortController()
  const abortConnecting = (reason: string): void => {
    timeoutController.abort(new Error(reason))
    void close()
  }
  const timer = setTimeout(
    () => abortConnecting(`the server did not answer within ${context.timeoutMs / 1000} s`),
    context.timeoutMs,
  )
  const onStopped = (): void => abortConnecting(CLOSED_REASON)
  context.stop.addEventListener('abort', onStopped, { once: true })
  try {
    if (context.stop.aborted) throw new Error(CLOSED_REASON)
    const options = {
      timeout: context.timeoutMs,
      signal: timeoutController.signal,
      ...(isLegacy && { prior: { kind: 'legacy' as const } }),
    }
    await Promise.race([
      client.connect(transport, options),
      new Promise<never>((_done, fail) => {
        timeoutController.signal.addEventListener('abort', () => fail(timeoutController.signal.reason), { once: true })
      }),
    ])
    if ((state as string) === 'closed') throw new Error(failure ?? getCloseReason())
  } catch (error) {
    const endReason = failure ?? (timeoutController.signal.aborted ? undefined : getCloseReason())
    await close()
    throw await toConnectionError(error, endReason)
  } finally {
    clearTimeout(timer)
    context.stop.removeEventListener('abort', onStopped)
  }
  state = 'open'
  return createConnection(client, close)
}

/** Any object is a response; its content is checked where it is used. */
const ANY_OBJECT_SCHEMA: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'dragoman',
    validate: (value) => ({ value: isObject(value) ? truncateDeepJson(value) : {} }),
  },
}

function createConnection(client: Client, close: () => Promise<void>) {
  const { title, name, version } = client.getServerVersion() ?? { name: 'unknown', version: '' }
  return {
    /** For tools that take arguments in headers. */
    client,
    instructions: clipInstructions(client.getInstructions()),
    offeredLists: MCP_LIST_NAMES.filter((list) => client.getServerCapabilities()?.[list] !== undefined),
    serverInfo: {
      title: [title ?? name, version].filter((word) => word !== '').join(' '),
      protocol: client.getNegotiatedProtocolVersion() ?? 'unknown',
      isLegacy: client.getProtocolEra() !== 'modern',
    },
    request: (method: string, params: JsonObject, limits: McpRequestOptions = {}): Promise<Record<string, unknown>> =>
      withRequestDeadline(limits, ({ timeout, signal, resetTimer }) =>
        client.request({ method, params }, ANY_OBJECT_SCHEMA, {
          timeout,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: timeout * MAX_TIMEOUT_FACTOR,
          signal,
          ...(limits.progress && {
            onprogress(step) {
              resetTimer()
              limits.progress?.(formatProgress(step as unknown as JsonObject))
            },
          }),
        }),
      ),
    close,
  }
}

const CLOSED_REASON = 'the connection was closed'

const MAX_INSTRUCTION_CHARS = 4000

function clipInstructions(text = ''): string {
  const visible = sanitizeForModel(text.slice(0, MAX_INSTRUCTION_CHARS)).trim()
  return text.length > MAX_INSTRUCTION_CHARS ? `${visible} …` : visible
}

function formatProgress({ progress, total, message }: Record<string, Json | undefined>): string {
  const share = typeof total === 'number' ? `${Number(progress)} of ${total}` : `${Number(progress)}`
  return typeof message === 'string' && message !== '' ? `${message} (${share})` : share
}

function describeExit(transport: StdioTransport): string {
  const errorOutput = transport.getRecentErrors().split('\n').slice(-5).join('\n').slice(-600)
  return `${transport.exitReason ?? CLOSED_REASON}${errorOutput === '' ? '' : `: ${errorOutput}`}`
}

async function toConnectionError(error: unknown, endReason: string | undefined): Promise<Error> {
  const { SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } = await import('./sdk.ts')
  if (error instanceof SignInRequiredError) return error
  if (error instanceof UnauthorizedError) return new SignInRequiredError()
  if (error instanceof SdkHttpError) {
    const { status } = error
    if (status === 401) return new SignInRequiredError()
    return new Error(`the server answered with HTTP status ${String(status)}`)
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed && endReason !== undefined)
    return new Error(endReason)
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return new Error(error instanceof Error ? `${error.message}${cause}` : String(error))
}
