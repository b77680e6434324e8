import { isObject } from '../../model/json.ts'
import type { GeminiFunctionResponse, GeminiPart, GeminiPartList } from '../vendor-types/gemini.ts'
import { transformMcpContentToParts } from './mcp-content.ts'
import { defined } from '../../model/defined.ts'

/** How a function response is written. */
export interface FunctionResponseOptions {
  /** Gemini 3 and later: text becomes the output, and media is inside the response instead of beside it. */
  readonly nested?: boolean
  /** The tool failed: the response has this as `error`, and no content. */
  readonly error?: string | { readonly message: string } | undefined
}

/** The parts that answer a call, the response first. There is exactly one response, because the API requires one per call. */
export function convertToFunctionResponse<Part extends GeminiPart = GeminiPart>(
  toolName: string,
  callId: string,
  llmContent: GeminiPartList<Part>,
  options: FunctionResponseOptions = {},
): (GeminiPart | Part)[] {
  const call = { id: callId, name: toolName }
  if (options.error !== undefined) {
    const message = typeof options.error === 'string' ? options.error : options.error.message
    return [{ functionResponse: { ...call, response: { error: message || 'The tool failed.' } } }]
  }
  if (typeof llmContent === 'string') return [createResponsePart(call, llmContent)]
  const isList = isPartList(llmContent)
  const list: readonly GeminiPart[] = isList ? llmContent.map(toPart) : [llmContent]
  const response = list.find(({ functionResponse }) => functionResponse !== undefined)
  if (response) return keepToolResponse(response, list, call, options.nested === true)
  if (options.nested) return createNestedResponse(list, call)
  const [only] = list
  if (isList || !only) return [createResponsePart(call, SUCCESS_OUTPUT), ...list]
  if (isMedia(only)) return [createResponsePart(call, describeBinary(only)), only]
  return isText(only) ? [createResponsePart(call, only.text)] : [createResponsePart(call, SUCCESS_OUTPUT), only]
}

/** A function response with one text. */
export function functionResponsePart(callId: string, name: string, output: string): GeminiPart {
  return createResponsePart({ id: callId, name }, output)
}

/** Like `convertToFunctionResponse`, but with a shorter text for binary content. */
export function wrapToolResult<Part extends GeminiPart = GeminiPart>(
  callId: string,
  name: string,
  llmContent: GeminiPartList<Part>,
): (GeminiPart | Part)[] {
  if (typeof llmContent !== 'string' && !isPartList(llmContent) && isMedia(llmContent)) {
    return [functionResponsePart(callId, name, 'Binary content processed.'), llmContent]
  }
  return convertToFunctionResponse(name, callId, llmContent)
}

/** Media as a URL that an `<img>` can show. */
export function dataUrl(mime: string, base64: string): string {
  return `data:${mime};base64,${base64}`
}

type CallReference = Required<Pick<GeminiFunctionResponse, 'id' | 'name'>>

const SUCCESS_OUTPUT = 'Tool execution succeeded.'

function describeBinary(part: GeminiPart): string {
  const mime = part.inlineData?.mimeType ?? part.fileData?.mimeType ?? 'unknown'
  return `Binary content of type ${mime} was processed.`
}

function createResponsePart(call: CallReference, output: string): GeminiPart {
  return { functionResponse: { ...call, response: { output } } }
}

function isPartList<Part>(content: Part | readonly (Part | string)[]): content is readonly (Part | string)[] {
  return Array.isArray(content)
}

function toPart(part: GeminiPart | string): GeminiPart {
  return typeof part === 'string' ? { text: part } : part
}

function isMedia(part: GeminiPart): boolean {
  return part.inlineData !== undefined || part.fileData !== undefined
}

function isText(part: GeminiPart): part is GeminiPart & { text: string } {
  return typeof part.text === 'string' && !part.thought
}

/** The tool already returned a Gemini response: it is kept, and content blocks in it become text. */
function keepToolResponse(
  response: GeminiPart,
  list: readonly GeminiPart[],
  call: CallReference,
  nested: boolean,
): GeminiPart[] {
  const toolResponse = response.functionResponse ?? {}
  const rest = list.filter((part) => part !== response).map(responseToText)
  const content = toolResponse.response?.['content']
  if (typeof content !== 'string' && !Array.isArray(content)) {
    const completed = { ...toolResponse, id: toolResponse.id || call.id, name: toolResponse.name || call.name }
    return [{ ...response, functionResponse: completed }, ...rest]
  }
  const parts =
    typeof content === 'string' ? [{ text: content }] : content.flatMap((block) => toBlockParts(block, call.name))
  if (toolResponse.response?.['isError'] === true) {
    return [{ functionResponse: { ...call, response: { error: joinText(parts) || 'The tool failed.' } } }, ...rest]
  }
  if (nested) return createNestedResponse([...parts, ...rest], call)
  return [createResponsePart(call, joinText(parts)), ...parts.filter((part) => !isText(part)), ...rest]
}

/** A second response to one call is not allowed; its content is kept as text. */
function responseToText(part: GeminiPart): GeminiPart {
  return part.functionResponse ? { text: JSON.stringify(part.functionResponse.response ?? {}) } : part
}

/** Content blocks have MCP's form, with a type, or are parts already. */
function toBlockParts(block: unknown, toolName: string): GeminiPart[] {
  if (typeof block === 'string') return [{ text: block }]
  if (!isObject(block)) return []
  return typeof block['type'] === 'string'
    ? transformMcpContentToParts(toolName, [{ ...block, type: block['type'] }])
    : [block]
}

function createNestedResponse(list: readonly GeminiPart[], call: CallReference): GeminiPart[] {
  const media = list.filter(isMedia)
  const [first] = media
  const text = joinText(list)
  const status = first && media.length === 1 ? describeBinary(first) : SUCCESS_OUTPUT
  const parts = media.map(({ inlineData, fileData }) => defined({ inlineData, fileData }))
  const response = { output: text === '' ? status : text }
  const others = list.filter((part) => !isMedia(part) && !isText(part))
  return [{ functionResponse: { ...call, response, ...(parts.length > 0 && { parts }) } }, ...others]
}

function joinText(parts: readonly GeminiPart[]): string {
  return parts
    .filter(isText)
    .map(({ text }) => text)
    .join('\n')
}
