import type { FunctionResponse, FunctionResponsePart, Part, PartListUnion, PartUnion } from '@google/genai'
import { isObject } from '../../model/json.ts'
import { transformMcpContentToParts } from './mcp-content.ts'
import { defined } from '../../model/defined.ts'

export interface FunctionResponseOptions {
  /** Gemini 3 and later: text becomes the output, and media is inside the response instead of beside it. */
  readonly nested?: boolean
  /** The tool failed: the response has this as `error`, and no content. */
  readonly error?: string | { readonly message: string } | undefined
}

/** The parts that answer a call, the response first. There is exactly one response, because the API requires one per call. */
export function convertToFunctionResponse(
  toolName: string,
  callId: string,
  llmContent: PartListUnion,
  options: FunctionResponseOptions = {},
): Part[] {
  const call = { id: callId, name: toolName }
  if (options.error !== undefined) {
    const message = typeof options.error === 'string' ? options.error : options.error.message
    return [{ functionResponse: { ...call, response: { error: message || 'The tool failed.' } } }]
  }
  if (typeof llmContent === 'string') return [createResponsePart(call, llmContent)]
  const list = Array.isArray(llmContent) ? llmContent.map(toPart) : [llmContent]
  const response = list.find(({ functionResponse }) => functionResponse !== undefined)
  if (response) return keepToolResponse(response, list, call, options.nested === true)
  if (options.nested) return createNestedResponse(list, call)
  const [only] = list
  if (Array.isArray(llmContent) || !only) return [createResponsePart(call, SUCCESS_OUTPUT), ...list]
  if (isMedia(only)) return [createResponsePart(call, describeBinary(only)), only]
  return isText(only) ? [createResponsePart(call, only.text)] : [createResponsePart(call, SUCCESS_OUTPUT), only]
}

export function functionResponsePart(callId: string, name: string, output: string): Part {
  return createResponsePart({ id: callId, name }, output)
}

/** Like `convertToFunctionResponse`, but with a shorter text for binary content. */
export function wrapToolResult(callId: string, name: string, llmContent: PartListUnion): Part[] {
  if (typeof llmContent !== 'string' && !Array.isArray(llmContent) && isMedia(llmContent)) {
    return [functionResponsePart(callId, name, 'Binary content processed.'), llmContent]
  }
  return convertToFunctionResponse(name, callId, llmContent)
}

export function dataUrl(mime: string, base64: string): string {
  return `data:${mime};base64,${base64}`
}

type CallReference = Required<Pick<FunctionResponse, 'id' | 'name'>>

const SUCCESS_OUTPUT = 'Tool execution succeeded.'

function describeBinary(part: Part): string {
  const mime = part.inlineData?.mimeType ?? part.fileData?.mimeType ?? 'unknown'
  return `Binary content of type ${mime} was processed.`
}

function createResponsePart(call: CallReference, output: string): Part {
  return { functionResponse: { ...call, response: { output } } }
}

function toPart(part: PartUnion): Part {
  return typeof part === 'string' ? { text: part } : part
}

function isMedia(part: Part): boolean {
  return part.inlineData !== undefined || part.fileData !== undefined
}

function isText(part: Part): part is Part & { text: string } {
  return typeof part.text === 'string' && !part.thought
}

/** The tool already returned a Gemini response: it is kept, and content blocks in it become text. */
function keepToolResponse(response: Part, list: readonly Part[], call: CallReference, nested: boolean): Part[] {
  // The SDK declares a class where the API has plain objects.
  const toolResponse: Pick<FunctionResponse, keyof FunctionResponse> = response.functionResponse ?? {}
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
function responseToText(part: Part): Part {
  return part.functionResponse ? { text: JSON.stringify(part.functionResponse.response ?? {}) } : part
}

/** Content blocks have MCP's form, with a type, or are parts already. */
function toBlockParts(block: unknown, toolName: string): Part[] {
  if (typeof block === 'string') return [{ text: block }]
  if (!isObject(block)) return []
  return typeof block['type'] === 'string'
    ? transformMcpContentToParts(toolName, [{ ...block, type: block['type'] }])
    : [block]
}

function createNestedResponse(list: readonly Part[], call: CallReference): Part[] {
  const media = list.filter(isMedia)
  const [first] = media
  const text = joinText(list)
  const status = first && media.length === 1 ? describeBinary(first) : SUCCESS_OUTPUT
  const parts = media.map(({ inlineData, fileData }): FunctionResponsePart => defined({ inlineData, fileData }))
  const response = { output: text === '' ? status : text }
  const others = list.filter((part) => !isMedia(part) && !isText(part))
  return [{ functionResponse: { ...call, response, ...(parts.length > 0 && { parts }) } }, ...others]
}

function joinText(parts: readonly Part[]): string {
  return parts
    .filter(isText)
    .map(({ text }) => text)
    .join('\n')
}
