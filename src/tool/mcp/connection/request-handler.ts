import { isObject, type JsonObject } from '../../../model/json.ts'

/** What a server may want from the other side in the middle of its work. */
export interface McpRequestHandler {
  /** It wants to know something from the person, or wants them to go to an address. */
  elicit(server: string, request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationResult>
  /** It wants the model to say something. */
  sample(server: string, request: SamplingRequest, signal: AbortSignal): Promise<SamplingResult>
}

/** A form to fill in, or an address to go to. */
export type ElicitationRequest =
  | { readonly message: string; readonly form: JsonObject }
  | { readonly message: string; readonly url: string }

/** What the person said to it. */
export type ElicitationResult =
  | { readonly action: 'accept'; readonly content?: JsonObject }
  | { readonly action: 'decline' | 'cancel' }

/** A conversation for the model to go on with. */
export interface SamplingRequest {
  readonly system?: string
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[]
  readonly maxTokens?: number
}

/** What the model said; or why it was not asked. */
export type SamplingResult =
  | { readonly text: string; readonly model: string; readonly stop: 'endTurn' | 'maxTokens' }
  | { readonly refused: string }

/** Nobody is there: nothing is answered, and the server is told so. */
export const DECLINE_ALL_REQUESTS: McpRequestHandler = {
  elicit: () => Promise.resolve({ action: 'decline' }),
  sample: () => Promise.resolve({ refused: 'Nobody is there to allow it.' }),
}

/** The values that a form has for itself. */
export function readFormDefaults(form: JsonObject): JsonObject {
  const { properties } = form
  const found = Object.entries(isObject(properties) ? properties : {}).flatMap(([name, property]) =>
    isObject(property) && property['default'] !== undefined ? [[name, property['default']] as const] : [],
  )
  return Object.fromEntries(found)
}

/** The fields that a form wants and that have no value yet. */
export function findMissingFields(form: JsonObject, content: JsonObject): string[] {
  const { required } = form
  return (Array.isArray(required) ? required : []).filter(
    (name): name is string => typeof name === 'string' && content[name] === undefined,
  )
}

/** What a server wants to be said, as text; what is no text is named. */
export function parseSamplingRequest(params: JsonObject): SamplingRequest {
  const { systemPrompt, messages, maxTokens } = params
  return {
    messages: filterObjects(messages).map(({ role, content }) => ({
      role: role === 'assistant' ? 'assistant' : 'user',
      text: (Array.isArray(content) ? content : [content]).map(blockToText).join('\n'),
    })),
    ...(typeof systemPrompt === 'string' && { system: systemPrompt }),
    ...(typeof maxTokens === 'number' && { maxTokens }),
  }
}

function filterObjects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function blockToText(block: unknown): string {
  if (!isObject(block)) return ''
  const { type, text } = block
  return typeof text === 'string' ? text : `[${typeof type === 'string' ? type : 'something'}]`
}
