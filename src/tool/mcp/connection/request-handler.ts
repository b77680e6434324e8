import { isObject, type JsonObject } from '../../../model/json.ts'

export interface McpRequestHandler {
  /** Asks the user something, or to open a URL. */
  elicit(server: string, request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationResult>
  /** What the user did at a URL is complete: a front end that still shows the request need not any more. */
  onElicitationComplete?(server: string, id: string): void
  sample(server: string, request: SamplingRequest, signal: AbortSignal): Promise<SamplingResult>
}

/** A front end that shows requests of servers itself. Undefined: it has no way to show one of this kind. */
export interface ElicitationView {
  elicit(server: string, request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationResult | undefined>
  onComplete(server: string, id: string): void
}

export type ElicitationRequest =
  | { readonly message: string; readonly form: JsonObject }
  | { readonly message: string; readonly url: string; readonly id: string }

export type ElicitationResult =
  | { readonly action: 'accept'; readonly content?: JsonObject }
  | { readonly action: 'decline' | 'cancel' }

export interface SamplingRequest {
  readonly system?: string
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[]
  readonly maxTokens?: number
}

export type SamplingResult =
  | { readonly text: string; readonly model: string; readonly stop: 'endTurn' | 'maxTokens' }
  | { readonly refused: string }

export const DECLINE_ALL_REQUESTS: McpRequestHandler = {
  elicit: () => Promise.resolve({ action: 'decline' }),
  sample: () => Promise.resolve({ refused: 'There is no user to allow it.' }),
}

export function readFormDefaults(form: JsonObject): JsonObject {
  const { properties } = form
  const found = Object.entries(isObject(properties) ? properties : {}).flatMap(([name, property]) =>
    isObject(property) && property['default'] !== undefined ? [[name, property['default']] as const] : [],
  )
  return Object.fromEntries(found)
}

export function findMissingFields(form: JsonObject, content: JsonObject): string[] {
  const { required } = form
  return (Array.isArray(required) ? required : []).filter(
    (name): name is string => typeof name === 'string' && content[name] === undefined,
  )
}

/** Content that is not text is named in brackets. */
export function parseSamplingRequest(params: JsonObject): SamplingRequest {
  const { systemPrompt, messages, maxTokens } = params
  return {
    messages: (Array.isArray(messages) ? (messages as unknown[]) : []).filter(isObject).map(({ role, content }) => ({
      role: role === 'assistant' ? 'assistant' : 'user',
      text: (Array.isArray(content) ? content : [content]).map(blockToText).join('\n'),
    })),
    ...(typeof systemPrompt === 'string' && { system: systemPrompt }),
    ...(typeof maxTokens === 'number' && { maxTokens }),
  }
}

function blockToText(block: unknown): string {
  if (!isObject(block)) return ''
  const { type, text } = block
  return typeof text === 'string' ? text : `[${typeof type === 'string' ? type : 'something'}]`
}
