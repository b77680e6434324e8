import type { StdioProcess, StdioProcesses, StdioProgram } from '../../../host/process/stdio-process.ts'
import { createLineSplitter, MAX_JSON_RPC_MESSAGE_BYTES } from './message-limits.ts'
import { formatLogMessage } from '../client/server-log.ts'
import { tryParseJson } from '../../../model/json.ts'
import { parseMessages } from './json-rpc.ts'
import { McpRequestError } from './request-error.ts'
import type { Transport } from './sdk.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

export interface StdioTransport extends Transport {
  /** The SDK recognises a program by these two. */
  readonly pid: number | null
  readonly stderr: null
  /** How the connection ended, if it did. */
  readonly exitReason: string | undefined
  getRecentErrors(): string
}

/** The SDK's own transport knows neither process groups nor sandboxes, and does not limit what a program writes. */
export function createStdioTransport(
  openProcess: StdioProcesses['open'],
  program: StdioProgram,
  log: (line: string) => void,
  limit: number = MAX_JSON_RPC_MESSAGE_BYTES,
): StdioTransport {
  let serverProcess: StdioProcess | undefined
  let exitReason: string | undefined
  let isClosed = false

  function handleLine(line: string): void {
    if (isClosed || line === '' || line === '\r') return
    const messages = parseMessages(tryParseJson(line))
    // Many programs print a greeting to standard output.
    if (messages.length === 0) return log(line)
    for (const message of messages) {
      // Log messages bypass the SDK, which is slow on a flood of them.
      if ('method' in message && message.method === 'notifications/message') log(formatLogMessage(message.params))
      else transport.onmessage?.(message)
    }
  }

  function close(): void {
    if (isClosed) return
    isClosed = true
    transport.onclose?.()
  }

  const transport: StdioTransport = {
    get pid() {
      return serverProcess?.pid ?? null
    },
    stderr: null,
    get exitReason() {
      return exitReason
    },
    getRecentErrors: () => serverProcess?.recentStderr() ?? '',
    async start() {
      const splitLines = createLineSplitter(limit, handleLine)
      serverProcess = await openProcess(program, {
        onOutput(bytes) {
          if (isClosed) return
          try {
            splitLines(bytes)
          } catch (error) {
            exitReason = getErrorMessage(error)
            void serverProcess?.close()
            close()
          }
        },
        onExit(how) {
          exitReason ??= `the server process ${how}`
          close()
        },
      })
      // It may have been closed while it was starting.
      if (isClosed) await serverProcess.close()
    },
    async send(message) {
      if (!serverProcess || isClosed) throw new McpRequestError('disconnected', 'the server process has ended')
      await serverProcess.send(`${JSON.stringify(message)}\n`).catch((error: unknown) => {
        throw new McpRequestError('disconnected', getErrorMessage(error))
      })
    },
    async close() {
      close()
      await serverProcess?.close()
    },
  }
  return transport
}
