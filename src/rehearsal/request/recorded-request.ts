import type { JsonObject } from '../../model/json.ts'
import { lazy } from '../../model/lazy.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { WireId } from '../../model/turn.ts'
import { type PlainConversation, toPlainConversation } from '../../wire/plain-conversation.ts'

export interface RecordedRequest {
  /** Counted from 1. */
  readonly number: number
  readonly wire: WireId
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
  /** The bytes of the body. */
  readonly bytes: Buffer
  readonly script: string | undefined
  /** The step that answered, counted in assistant turns; undefined if none did. */
  readonly position: number | undefined
  /** The request in the wire-independent form. */
  readonly conversation: PlainConversation
}

/** An expectation of a script that was not met, or a request that the vendor would reject. */
export interface RehearsalFailure {
  readonly requestNumber: number
  readonly wire: WireId | undefined
  readonly script: string | undefined
  readonly message: string
}

/** `conversation` is computed on first use. */
export function createRecordedRequest(
  fields: Omit<RecordedRequest, 'conversation'>,
  readRequest: () => ModelRequest,
): RecordedRequest {
  const readConversation = lazy(() => toPlainConversation(readRequest()))
  return {
    ...fields,
    get conversation() {
      return readConversation()
    },
  }
}

export function flattenHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}

/** Drops the oldest entries beyond `maxLength`. */
export function pushBounded<T>(list: T[], entry: T, maxLength: number): void {
  list.push(entry)
  if (list.length > maxLength) list.splice(0, list.length - maxLength)
}
