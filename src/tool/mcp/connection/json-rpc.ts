import { isObject, stringOrEmpty } from '../../../model/json.ts'
import type { JSONRPCMessage } from './sdk.ts'
import { defined } from '../../../model/defined.ts'

const INTERNAL_ERROR = -32_603

/** A malformed response with the id of a request becomes an error, so that the request ends; others are dropped. */
export function parseMessages(json: unknown): JSONRPCMessage[] {
  if (Array.isArray(json)) return json.flatMap(parseMessages)
  if (!isObject(json)) return []
  const { jsonrpc, id, method, result, error } = json
  if (typeof method === 'string') return jsonrpc === '2.0' ? [json as unknown as JSONRPCMessage] : []
  const isAnswer = jsonrpc === '2.0' || result !== undefined || error !== undefined
  if (!isAnswer || (typeof id !== 'string' && typeof id !== 'number')) return []
  if (error !== undefined && error !== null) return [{ jsonrpc: '2.0', id, error: toJsonRpcError(error) }]
  if (isObject(result)) return [{ jsonrpc: '2.0', id, result: truncateDeepJson(result) }]
  return [createErrorResponse(id, `the response has ${describeType(result)} in place of a result`)]
}

/** Cuts off nesting that is too deep to serialise or to walk. */
export function truncateDeepJson<T>(value: T, levels = MAX_LEVELS): T {
  return isWithin(value, levels) ? value : (cutBelow(value, levels) as T)
}

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((inner) => isWithin(inner, levels - 1))
}

function cutBelow(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return TOO_DEEP
  if (Array.isArray(value)) return value.map((inner) => cutBelow(inner, levels - 1))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cutBelow(inner, levels - 1)]))
}

const MAX_LEVELS = 500
const TOO_DEEP = '(nested too deeply)'

export function createErrorResponse(id: string | number, message: string): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message } }
}

export function getRequestId(message: unknown): string | number | undefined {
  if (!isObject(message) || typeof message['method'] !== 'string') return undefined
  const { id } = message
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

function toJsonRpcError(error: unknown): { code: number; message: string; data?: unknown } {
  if (!isObject(error)) return { code: INTERNAL_ERROR, message: stringOrEmpty(error) || 'an error without a message' }
  const { code, message, data } = error
  return {
    code: typeof code === 'number' && Number.isSafeInteger(code) ? code : INTERNAL_ERROR,
    message: stringOrEmpty(message) || 'an error without a message',
    ...defined({ data }),
  }
}

function describeType(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
