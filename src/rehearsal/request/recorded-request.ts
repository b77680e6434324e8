import type { JsonObject } from '../../model/json.ts'
import { lazy } from '../../model/lazy.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { WireId } from '../../model/turn.ts'
import type { PlainConversation } from '../../wire/plain-conversation/plain-conversation.ts'
import { toPlainConversation } from '../../wire/plain-conversation/to-plain.ts'
import { type SimpleMessage, toSimpleMessages } from './simple-messages.ts'

/** A request that a scripted model got. */
export interface RecordedRequest {
  /** Counted from 1. */
  readonly number: number
  readonly wire: WireId
  /** The path of the URL. */
  readonly path: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as the wire has it. */
  readonly body: JsonObject
  /** The bytes of the body. */
  readonly bytes: Buffer
  /** The name of the script that answered. */
  readonly script: string | undefined
  /** The step that answered, counted in assistant turns; undefined if none did. */
  readonly position: number | undefined
  /** The request in the wire-independent form. */
  readonly conversation: PlainConversation
  /** The messages of `conversation` without ids, so that a test can compare them. */
  readonly messages: readonly SimpleMessage[]
}

/** An expectation of a script that was not met, or a request that the vendor would reject. */
export interface RehearsalFailure {
  /** The number of the request, counted from 1. */
  readonly requestNumber: number
  readonly wire: WireId | undefined
  readonly script: string | undefined
  readonly message: string
}

/** `conversation` and `messages` are computed on first use. */
export function createRecordedRequest(
  fields: Omit<RecordedRequest, 'conversation' | 'messages'>,
  readRequest: () => ModelRequest,
): RecordedRequest {
  const readConversation = lazy(() => toPlainConversation(readRequest()))
  return {
    ...fields,
    get conversation() {
      return readConversation()
    },
    get messages() {
      return toSimpleMessages(readConversation())
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
