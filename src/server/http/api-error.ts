import { StoreError, type StoreErrorCode } from '../../session/store/store.ts'

/** Why a request is refused. The code decides; the message is for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: ApiErrorCode
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ApiErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = STATUS[code]
    this.code = code
    this.headers = headers
  }
}

const STATUS = {
  'invalid-request': 400,
  unauthorized: 401,
  'quota-exceeded': 402,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'request-timeout': 408,
  conflict: 409,
  'too-large': 413,
  'unsupported-media-type': 415,
  'wrong-host': 421,
  'limit-exceeded': 429,
  'internal-error': 500,
  unavailable: 503,
} as const

export type ApiErrorCode = keyof typeof STATUS

export const API_ERROR_CODES = Object.keys(STATUS) as readonly ApiErrorCode[]

/** The error that a client sees. What is unknown says nothing about the server. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof StoreError) {
    const code = STORE_CODES[error.code]
    // Its message names files of the server.
    if (code === 'unavailable') return new ApiError(code, 'The storage of the server cannot be used at the moment.')
    if (code) return new ApiError(code, `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`)
  }
  return new ApiError('internal-error', 'The server failed. Its log says why.')
}

const STORE_CODES: Readonly<Partial<Record<StoreErrorCode, ApiErrorCode>>> = {
  'not-found': 'not-found',
  'invalid-id': 'invalid-request',
  exists: 'conflict',
  'has-forks': 'conflict',
  'in-use': 'conflict',
  unavailable: 'unavailable',
  'disk-full': 'unavailable',
}
