import { isObject, type JsonObject } from '../../model/json.ts'

/** What a server may want from the other side in the middle of its work. */
export interface Questions {
  /** It wants to know something from the person, or wants them to go to an address. */
  elicit(server: string, wish: Elicitation, signal: AbortSignal): Promise<Elicited>
  /** It wants the model to say something. */
  sample(server: string, wish: Sampling, signal: AbortSignal): Promise<Sampled>
}

/** A form to fill in, or an address to go to. */
export type Elicitation =
  | { readonly message: string; readonly form: JsonObject }
  | { readonly message: string; readonly url: string }

/** What the person said to it. */
export type Elicited =
  | { readonly action: 'accept'; readonly content?: JsonObject }
  | { readonly action: 'decline' | 'cancel' }

/** A conversation for the model to go on with. */
export interface Sampling {
  readonly system?: string
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[]
  readonly maxTokens?: number
}

/** What the model said; or why it was not asked. */
export type Sampled =
  | { readonly text: string; readonly model: string; readonly stop: 'endTurn' | 'maxTokens' }
  | { readonly refused: string }

/** Nobody is there: nothing is answered, and the server is told so. */
export const NOBODY: Questions = {
  elicit: () => Promise.resolve({ action: 'decline' }),
  sample: () => Promise.resolve({ refused: 'Nobody is there to allow it.' }),
}

/** The values that a form has for itself. */
export function defaultsOf(form: JsonObject): JsonObject {
  const { properties } = form
  const found = Object.entries(isObject(properties) ? properties : {}).flatMap(([name, property]) =>
    isObject(property) && property['default'] !== undefined ? [[name, property['default']] as const] : [],
  )
  return Object.fromEntries(found)
}

/** The fields that a form wants and that have no value yet. */
export function missingIn(form: JsonObject, content: JsonObject): string[] {
  const { required } = form
  return (Array.isArray(required) ? required : []).filter(
    (name): name is string => typeof name === 'string' && content[name] === undefined,
  )
}

/** What a server wants to be said, as text; what is no text is named. */
export function samplingOf(params: JsonObject): Sampling {
  const { systemPrompt, messages, maxTokens } = params
  return {
    messages: objectsIn(messages).map(({ role, content }) => ({
      role: role === 'assistant' ? 'assistant' : 'user',
      text: (Array.isArray(content) ? content : [content]).map(textIn).join('\n'),
    })),
    ...(typeof systemPrompt === 'string' && { system: systemPrompt }),
    ...(typeof maxTokens === 'number' && { maxTokens }),
  }
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function textIn(block: unknown): string {
  if (!isObject(block)) return ''
  const { type, text } = block
  return typeof text === 'string' ? text : `[${typeof type === 'string' ? type : 'something'}]`
}
