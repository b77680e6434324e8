import type { Companion, Companions, Program } from '../../host/companion.ts'
import { lineCutter, MAX_FRAME } from './limits.ts'
import { logLine } from './log.ts'
import { messagesIn } from './message.ts'
import type { Transport } from './sdk.ts'

/** A server that is a program of ours to start and to end. */
export interface StdioTransport extends Transport {
  /** The SDK knows a program by these two. */
  readonly pid: number | null
  readonly stderr: null
  /** How it ended, if it did. */
  readonly end: string | undefined
  lastWords(): string
}

/**
 * Talks with a program line by line. The SDK has a transport of its own for this, but it knows nothing of process groups
 * and sandboxes, and lets programs fill the disk or the memory; here the host starts and ends them.
 */
export function stdioTransport(
  open: Companions['open'],
  program: Program,
  log: (line: string) => void,
  limit: number = MAX_FRAME,
): StdioTransport {
  let companion: Companion | undefined
  let end: string | undefined
  let isClosed = false

  function take(line: string): void {
    if (isClosed || line === '' || line === '\r') return
    const messages = messagesIn(parsed(line))
    // Many a program prints a greeting where only messages belong.
    if (messages.length === 0) return log(line)
    for (const message of messages) {
      // A flood of log lines does not go through the SDK, which looks long at each.
      if ('method' in message && message.method === 'notifications/message') log(logLine(message.params))
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
      return companion?.pid ?? null
    },
    stderr: null,
    get end() {
      return end
    },
    lastWords: () => companion?.lastWords() ?? '',
    async start() {
      const cut = lineCutter(limit, take)
      companion = await open(program, {
        heard(bytes) {
          if (isClosed) return
          try {
            cut(bytes)
          } catch (error) {
            end = error instanceof Error ? error.message : String(error)
            void companion?.close()
            close()
          }
        },
        ended(how) {
          end ??= how
          close()
        },
      })
      // Who was closed while it was being started is not wanted.
      if (isClosed) await companion.close()
    },
    async send(message) {
      if (!companion || isClosed) throw new Error('the server has ended')
      await companion.send(`${JSON.stringify(message)}\n`)
    },
    async close() {
      close()
      await companion?.close()
    },
  }
  return transport
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
