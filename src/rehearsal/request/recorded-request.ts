import type { JsonObject } from '../../model/json.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { WireId } from '../../model/turn.ts'
import { type PlainConversation, toPlainConversation } from '../../wire/plain-conversation.ts'

/** A request that came in, as it came in. */
export interface RecordedRequest {
  /** Counted from 1, in the order in which they came. */
  readonly number: number
  readonly wire: WireId
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
  /** The very bytes of the body. */
  readonly bytes: Buffer
  readonly script: string | undefined
  /** Which step answered, counted in assistant turns; undefined where none did. */
  readonly position: number | undefined
  /** The same in the one plain form of all wires. */
  readonly conversation: PlainConversation
}

/** Something that was not as it should be: a script's expectation, or a transcript that the vendor would refuse. */
export interface RehearsalFailure {
  readonly requestNumber: number
  /** Undefined where nobody knows. */
  readonly wire: WireId | undefined
  readonly script: string | undefined
  readonly message: string
}

/** Records a request; its plain form is made when somebody looks at it. */
export function createRecordedRequest(
  fields: Omit<RecordedRequest, 'conversation'>,
  readRequest: () => ModelRequest,
): RecordedRequest {
  let conversation: PlainConversation | undefined
  return {
    ...fields,
    get conversation() {
      return (conversation ??= toPlainConversation(readRequest()))
    },
  }
}

/** The headers as one string each. */
export function flattenHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}

/** A list that forgets its oldest entries beyond a number. */
export function pushBounded<T>(list: T[], entry: T, maxLength: number): void {
  list.push(entry)
  if (list.length > maxLength) list.splice(0, list.length - maxLength)
}
