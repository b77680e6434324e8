import type { AssistantTurn, ResultPart } from '../../model/turn.ts'
import type { Usage } from '../../model/usage.ts'
import type { Block, InspectedBody, InspectedExchange } from './inspected-exchange.ts'

/** The content of an exchange. */
export interface InspectedContent {
  /** The request in the order in which vendors cache it: settings, tools, system prompt, history. */
  readonly blocks: readonly Block[]
  /** What the client got. */
  readonly answer?: AssistantTurn
  /** What the model wrote, if it is not what the client got. */
  readonly modelAnswer?: AssistantTurn
  /** The results in the request, by the vendor's id of their call. */
  readonly results: ReadonlyMap<string, ResultPart>
  readonly remark?: string
}

/** A result, and how long its call ran, in milliseconds. */
export interface MeasuredResult {
  readonly result: ResultPart
  readonly ms: number
}

/** Where the inspector gets its exchanges from. Nothing of it contains secrets. */
export interface InspectorSource {
  readonly kind: 'gateway' | 'session'
  readonly title: string
  /** Oldest first. */
  list(): readonly InspectedExchange[]
  get(id: number): InspectedExchange | undefined
  readContent(id: number): InspectedContent | undefined
  readBodies(id: number): readonly InspectedBody[]
  /** The exchanges whose bodies contain a text. */
  search(text: string): readonly number[]
  /** The results of the calls of a response, by the id of the call, if they are known without a later request. */
  readResults?(id: number): ReadonlyMap<string, MeasuredResult>
  readVendorReason?(id: number): string | undefined
  /** In US dollars; undefined if the price is unknown. */
  price(exchange: InspectedExchange, usage: Usage): number | undefined
  /** A recording for `dragoman replay`, as the text of a file. */
  exportRecording(ids: readonly number[]): Promise<string>
  /** Called when an exchange begins, changes or ends; the result ends the subscription. */
  subscribe(listener: (exchange: InspectedExchange) => void): () => void
}
