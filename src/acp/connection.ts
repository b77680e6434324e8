import { isObject, type Json, tryParseJson } from '../model/json.ts'
import { getErrorMessage } from '../model/error-message.ts'
import { toWellFormedJson } from '../model/text.ts'
import { createLineSplitter } from './line-splitter.ts'
import { ERROR_CODE, ProtocolError } from './protocol.ts'

/** JSON-RPC 2.0 in both directions, one message a line. */
export interface Connection {
  /** Bytes from the other side. */
  receive(bytes: Uint8Array): void
  /** Sends a request. If the signal aborts, the other side is told, and the promise rejects. */
  request<Result>(method: string, params: object, signal?: AbortSignal): Promise<Result>
  notify(method: string, params: object): void
  /** Nothing comes from the other side any more: what waits for it fails. Its requests are still answered. */
  close(): void
  readonly isClosed: boolean
  /** Resolves when every request from the other side has its answer. */
  waitForAnswers(): Promise<void>
}

export interface RequestContext {
  readonly id: RequestId
  /** Aborts if the other side cancels the request, or is gone. */
  readonly signal: AbortSignal
  /** Calls back when the response has been sent. */
  readonly afterResponse: (work: () => void) => void
}

interface ConnectionOptions {
  readonly send: (line: string) => void
  readonly onRequest: (method: string, params: Params, context: RequestContext) => Promise<unknown>
  readonly onNotification: (method: string, params: Params) => void
  readonly log: (message: string) => void
}

export type RequestId = string | number | null

/** What came from the other side, not checked yet. */
export type Params = Readonly<Record<string, unknown>>

interface PendingRequest {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

export function createConnection({ send, onRequest, onNotification, log }: ConnectionOptions): Connection {
  const pending = new Map<RequestId, PendingRequest>()
  const incoming = new Map<RequestId, AbortController>()
  const answers = new Set<Promise<void>>()
  let lastId = 0
  let isClosed = false
  const splitter = createLineSplitter({
    onLine: receiveLine,
    onTooLong: () => sendError(null, ERROR_CODE.invalidRequest, 'The message is too long.'),
  })

  function sendMessage(message: object): void {
    const whole = { jsonrpc: '2.0', ...message }
    const line = JSON.stringify(whole)
    // A lone surrogate is legal in JSON, but some readers refuse the whole message.
    send(`${line.includes('\\ud') ? JSON.stringify(toWellFormedJson(whole as unknown as Json)) : line}\n`)
  }

  function sendError(id: RequestId, code: number, message: string, data?: unknown): void {
    sendMessage({ id, error: { code, message, ...(data !== undefined && { data }) } })
  }

  function receiveLine(line: string): void {
    const message = tryParseJson(line)
    if (message === undefined) return sendError(null, ERROR_CODE.parse, 'The line is not JSON.')
    if (!isObject(message)) return sendError(null, ERROR_CODE.invalidRequest, 'The message is not a JSON object.')
    const { id, method } = message
    const params = isObject(message['params']) ? message['params'] : {}
    if (typeof method !== 'string') return receiveResponse(message)
    if (id === undefined) return receiveNotification(method, params)
    if (!isRequestId(id))
      return sendError(null, ERROR_CODE.invalidRequest, 'The id is neither a string nor a whole number.')
    const answering = answer(id, method, params).finally(() => answers.delete(answering))
    answers.add(answering)
  }

  function receiveNotification(method: string, params: Params): void {
    const { requestId } = params
    if (method === '$/cancel_request') incoming.get(requestId as RequestId)?.abort()
    else onNotification(method, params)
  }

  function receiveResponse(message: Params): void {
    const { id, error } = message
    const request = isRequestId(id) ? pending.get(id) : undefined
    // Never answered: two programs that report each other's errors would not stop.
    if (!request) return log('a message was ignored: it is neither a request nor the answer to one')
    pending.delete(id as RequestId)
    if (isObject(error)) {
      const { code, message: text, data } = error
      const known = typeof code === 'number' ? code : ERROR_CODE.internal
      request.reject(new ProtocolError(known, typeof text === 'string' ? text : 'The request failed.', data))
    } else request.resolve(message['result'])
  }

  async function answer(id: RequestId, method: string, params: Params): Promise<void> {
    const controller = new AbortController()
    incoming.set(id, controller)
    const later: (() => void)[] = []
    try {
      const context = { id, signal: controller.signal, afterResponse: (work: () => void) => void later.push(work) }
      const result = await onRequest(method, params, context)
      sendMessage({ id, result: result ?? {} })
    } catch (error) {
      if (error instanceof ProtocolError) sendError(id, error.code, error.message, error.data)
      else {
        log(error instanceof Error ? (error.stack ?? error.message) : String(error))
        sendError(id, ERROR_CODE.internal, getErrorMessage(error))
      }
    } finally {
      incoming.delete(id)
    }
    for (const work of later) work()
  }

  return {
    get isClosed() {
      return isClosed
    },
    receive: (bytes) => splitter.push(bytes),
    request: <Result>(method: string, params: object, signal?: AbortSignal) =>
      new Promise<Result>((resolve, reject) => {
        if (isClosed) return reject(new ProtocolError(ERROR_CODE.cancelled, 'The connection is closed.'))
        if (signal?.aborted) return reject(new ProtocolError(ERROR_CODE.cancelled, 'Cancelled.'))
        const id = ++lastId
        const onAbort = (): void => {
          if (!pending.delete(id)) return
          sendMessage({ method: '$/cancel_request', params: { requestId: id } })
          reject(new ProtocolError(ERROR_CODE.cancelled, 'Cancelled.'))
        }
        const forget = (): void => signal?.removeEventListener('abort', onAbort)
        pending.set(id, {
          resolve: (result) => {
            forget()
            resolve(result as Result)
          },
          reject: (error) => {
            forget()
            reject(error)
          },
        })
        signal?.addEventListener('abort', onAbort, { once: true })
        sendMessage({ id, method, params })
      }),
    notify: (method, params) => sendMessage({ method, params }),
    close() {
      if (isClosed) return
      splitter.end()
      isClosed = true
      for (const request of pending.values())
        request.reject(new ProtocolError(ERROR_CODE.cancelled, 'The connection is closed.'))
      pending.clear()
      for (const controller of incoming.values()) controller.abort()
    },
    waitForAnswers: async () => void (await Promise.allSettled(answers)),
  }
}

function isRequestId(value: unknown): value is RequestId {
  return value === null || typeof value === 'string' || Number.isSafeInteger(value)
}
