import type { JsonObject } from '../model/json.ts'
import type { Request } from '../model/request.ts'
import type { WireId } from '../model/turn.ts'
import { type Conversation, toConversation } from '../wire/conversation.ts'

/** A request that came in, as it came in. */
export interface Recorded {
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
  readonly conversation: Conversation
}

/** Something that was not as it should be: a script's expectation, or a transcript that the vendor would refuse. */
export interface Failure {
  readonly request: number
  /** Undefined where nobody knows. */
  readonly wire: WireId | undefined
  readonly script: string | undefined
  readonly sentence: string
}

/** Records a request; its plain form is made when somebody looks at it. */
export function recorded(given: Omit<Recorded, 'conversation'>, read: () => Request): Recorded {
  let conversation: Conversation | undefined
  return {
    ...given,
    get conversation() {
      return (conversation ??= toConversation(read()))
    },
  }
}

/** The headers as one string each. */
export function headersOf(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}

/** A list that forgets its oldest entries beyond a number. */
export function keepLast<T>(list: T[], entry: T, most: number): void {
  list.push(entry)
  if (list.length > most) list.splice(0, list.length - most)
}
