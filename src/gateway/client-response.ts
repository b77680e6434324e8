import type { ServerResponse } from 'node:http'
import type { Warning } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import type { JsonObject } from '../model/json.ts'
import { createFrameFormatter, STREAM_CONTENT_TYPES, type StreamFraming } from '../wire/framing/write-frames.ts'
import { stringifyWithRawJson } from '../wire/json/raw-json.ts'
import type { WrittenResponseFrame } from '../wire/response-writer.ts'
import type { Wire } from '../wire/wire.ts'
import { toClientError } from './client-error.ts'

export type ClientResponse = ReturnType<typeof createClientResponse>

type Headers = Readonly<Record<string, string>>

interface ClientResponseOptions {
  readonly wire: Wire
  readonly stream: boolean
  readonly framing: StreamFraming
  /** Gets everything that is sent, and the status and the headers before it. */
  readonly onSent: (sent: {
    readonly status?: number
    readonly headers?: Headers
    readonly bytes?: Uint8Array | string
  }) => void
}

/** Writes the response to a client in the form of its API: streamed, whole, or an error. */
export function createClientResponse(
  response: ServerResponse,
  { wire, stream, framing, onSent }: ClientResponseOptions,
) {
  const formatter = createFrameFormatter(framing)
  const { responseWriter } = wire

  function writeHead(status: number, headers: Readonly<Record<string, string>>): void {
    onSent({ status, headers })
    response.writeHead(status, headers)
  }

  /** Resolves when the client can take more. */
  function write(bytes: Uint8Array | string): Promise<void> | undefined {
    if (response.destroyed || bytes.length === 0) return undefined
    const isFlowing = response.write(bytes)
    onSent({ bytes })
    return isFlowing ? undefined : waitForDrain(response)
  }

  function sendJson(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    const text = stringifyWithRawJson(body)
    const length = String(Buffer.byteLength(text))
    writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': length, ...headers })
    onSent({ bytes: text })
    response.end(text)
  }

  const self = {
    get isStarted(): boolean {
      return response.headersSent
    },
    get isClosed(): boolean {
      return response.destroyed || response.writableEnded
    },
    writeHead,
    write,
    sendJson,
    startStream(headers: Readonly<Record<string, string>>): void {
      if (response.headersSent || response.destroyed) return
      writeHead(200, { 'content-type': STREAM_CONTENT_TYPES[framing], 'cache-control': 'no-cache', ...headers })
      response.flushHeaders()
    },
    writeFrames(frames: readonly WrittenResponseFrame[]): Promise<void> | undefined {
      return write(frames.map((frame) => formatter.format(frame)).join(''))
    },
    /** Something that readers ignore, so that nobody takes the connection for dead. */
    keepAlive(): void {
      if (framing === 'sse' && response.headersSent) void write(': keep-alive\n\n')
    },
    /** The end of a stream of frames. */
    end(): void {
      void write(formatter.end())
      response.end()
    },
    /** The end of a body that was written as it came. */
    finish: (): void => void response.end(),
    destroy: (): void => void response.destroy(),
    /** An HTTP error before the first byte, an error frame after it. */
    fail(fault: Fault, headers: Readonly<Record<string, string>> = {}): void {
      if (self.isClosed) return
      const error = toClientError(response.headersSent ? addRetryWords(fault) : fault, wire.id)
      if (response.headersSent) {
        void self.writeFrames([responseWriter.writeErrorFrame(error.report)])
        // Google's own SDKs look for an error only outside of the events; others only in an event.
        if (wire.id === 'gemini' && framing === 'sse')
          void write(`${stringifyWithRawJson(responseWriter.writeError(error.report))}\n\n`)
        self.end()
        return
      }
      const body: JsonObject = responseWriter.writeError(error.report)
      // Google sends errors inside an array to clients that asked for an array.
      sendJson(error.report.status, stream && framing === 'array' ? [body] : body, { ...error.headers, ...headers })
    },
  }
  return self
}

/** Inside a stream there is no status and no header, so clients look for such words to know that they can try again. */
function addRetryWords(fault: Fault): Fault {
  return fault.kind === 'transport' ? { ...fault, message: `Network error: ${fault.message}` } : fault
}

function waitForDrain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}

/** The number of warnings and their codes, for a header. */
export function formatWarningHeader(warnings: readonly Warning[]): Record<string, string> {
  if (warnings.length === 0) return {}
  const codes = [...new Set(warnings.map(({ code }) => code.replaceAll(/[^\w-]/g, '')))]
  return { 'x-dragoman-warnings': `${warnings.length}; ${codes.slice(0, 20).join(', ')}` }
}
