import type { StdioProcesses } from '../../host/process/stdio-process.ts'
import { defined } from '../../model/defined.ts'
import { type Connection, createConnection, type Params } from '../connection.ts'
import {
  ERROR_CODE,
  type InitializeResponse,
  type NewSessionResponse,
  type PromptResponse,
  PROTOCOL_VERSION,
  ProtocolError,
  type StopReason,
} from '../protocol.ts'
import type { AcpAgentConfig } from './delegate-tool.ts'

/** What another agent may ask of us. */
export interface AgentRequests {
  onRequest(method: string, params: Params, signal: AbortSignal): Promise<unknown>
  onNotification(method: string, params: Params): void
}

/** Starts another agent, and opens a session in it. */
export async function openAgentProcess(
  { command, args = [], env }: AcpAgentConfig,
  folder: string,
  requests: AgentRequests,
  { open, signal: startSignal }: { readonly open: StdioProcesses['open']; readonly signal: AbortSignal },
) {
  const connection: Connection = createConnection({
    send: (line) => void process.send(line).catch(() => connection.close()),
    onRequest: (method, params, { signal }) => requests.onRequest(method, params, signal),
    onNotification: (method, params) => requests.onNotification(method, params),
    log: () => undefined,
  })
  // Its own settings, network and sign-in are outside the sandbox; the user has configured it, and approves each task.
  const program = { command, args, folder, trusted: true, ...defined({ env }) }
  const process = await open(program, {
    onOutput: (bytes) => connection.receive(bytes),
    onExit: () => connection.close(),
  })
  try {
    const introduction = {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
      clientInfo: { name: 'dragoman', title: 'Dragoman', version: '1' },
    }
    const { protocolVersion } = await connection.request<InitializeResponse>('initialize', introduction, startSignal)
    if (protocolVersion !== PROTOCOL_VERSION)
      throw new ProtocolError(ERROR_CODE.internal, `it speaks version ${protocolVersion} of the protocol`)
    const place = { cwd: folder, mcpServers: [] }
    const { sessionId } = await connection.request<NewSessionResponse>('session/new', place, startSignal)
    return {
      async prompt(text: string, signal: AbortSignal): Promise<StopReason> {
        const onAbort = (): void => connection.notify('session/cancel', { sessionId })
        if (signal.aborted) return 'cancelled'
        signal.addEventListener('abort', onAbort, { once: true })
        try {
          const prompt = [{ type: 'text', text }]
          const ended = connection.request<PromptResponse>('session/prompt', { sessionId, prompt })
          const { stopReason } = await Promise.race([ended, rejectAfterCancel(signal)])
          return stopReason
        } finally {
          signal.removeEventListener('abort', onAbort)
        }
      },
      recentStderr: () => process.recentStderr(),
      async close(): Promise<void> {
        connection.close()
        await process.close()
      },
    }
  } catch (error) {
    const details = process.recentStderr()
    connection.close()
    await process.close()
    if (details === '' || !(error instanceof Error)) throw error
    throw new Error(`${error.message}\n${details}`, { cause: error })
  }
}

/** An agent that ignores the cancellation is stopped. */
function rejectAfterCancel(signal: AbortSignal): Promise<PromptResponse> {
  return new Promise((resolve) => {
    signal.addEventListener(
      'abort',
      () => void setTimeout(() => resolve({ stopReason: 'cancelled' }), CANCEL_GRACE_MS).unref(),
      { once: true },
    )
  })
}

const CANCEL_GRACE_MS = 5000
