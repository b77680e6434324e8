import { defined } from '../../model/defined.ts'
import { isObject, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import { parseCallArguments } from '../../wire/calls/parse-arguments.ts'
import type {
  AnthropicText,
  AnthropicToolResult,
  AnthropicToolResultLike,
  AnthropicToolUse,
} from '../vendor-types/anthropic.ts'
import type { GeminiBlob, GeminiFunctionResponse, GeminiPart } from '../vendor-types/gemini.ts'
import type { RejectedToolCall } from './assembler.ts'
import { createToolId } from './tool-id.ts'

/** A text of an assistant message. */
export interface TextContent {
  type: 'text'
  content: string
  partial: boolean
}

/** A tool call of an assistant message. The id never changes. */
export interface ToolUse {
  type: 'tool_use'
  id: string
  name: string
  params: JsonObject
  partial: boolean
  thoughtSignature?: string
}

/** What an assistant message of the host consists of. */
export type AssistantMessageContent = TextContent | ToolUse

/** A complete call, in the chunk type of any host. */
export interface ToolCallLike {
  readonly id?: string | undefined
  readonly function?: { readonly name?: string | undefined; readonly arguments?: string | undefined } | undefined
  readonly thoughtSignature?: string | undefined
}

/** A `tool_use` block of a stored history, with the signature if it was requested. */
export type StoredToolUse = AnthropicToolUse & { thoughtSignature?: string }

/** Converts complete calls to blocks. A call without a name, or whose arguments are not one JSON object, is rejected. */
export function toToolUse(
  toolCalls: readonly ToolCallLike[],
  createId: (name: string) => string = createToolId,
): { blocks: ToolUse[]; rejected: RejectedToolCall[] } {
  const blocks: ToolUse[] = []
  const rejected: RejectedToolCall[] = []
  for (const { id: givenId, function: calledFunction, thoughtSignature } of toolCalls) {
    const { name = '', arguments: args = '' } = calledFunction ?? {}
    const id = givenId || createId(name)
    const parsedArguments = parseCallArguments(args)
    const [params, ...more] = parsedArguments.ok ? parsedArguments.inputs : []
    const reject = (reason: string) => void rejected.push({ id, name, arguments: args, reason })
    if (name.trim() === '') reject('The call has no name.')
    else if (!parsedArguments.ok) reject(parsedArguments.message)
    else if (!params || more.length > 0) reject('The call holds several argument objects; make one call for each.')
    else {
      blocks.push({ type: 'tool_use', id, name, params, partial: false, ...defined({ thoughtSignature }) })
    }
  }
  return { blocks, rejected }
}

/**
 * The content of an assistant message for the history. Empty text and incomplete calls are left out; if nothing remains,
 * the content is `assistantMessage`.
 */
export function toApiHistory(
  content: readonly AssistantMessageContent[],
  assistantMessage = '',
  options: {
    /** Keep Gemini's signatures on the blocks; other vendors do not accept them. */ readonly signatures?: boolean
  } = {},
): (AnthropicText | StoredToolUse)[] {
  const blocks = content.flatMap((block): (AnthropicText | StoredToolUse)[] => {
    if (block.type === 'text') return block.content.trim() === '' ? [] : [{ type: 'text', text: block.content }]
    if (block.partial) return []
    const { id, name, params, thoughtSignature: signature } = block
    const signed = options.signatures && signature !== undefined ? { thoughtSignature: signature } : {}
    return [{ type: 'tool_use', id, name, input: params, ...signed }]
  })
  if (blocks.length > 0) return blocks
  // No vendor accepts a history with an empty message.
  return [{ type: 'text', text: assistantMessage.trim() === '' ? '(no answer)' : assistantMessage }]
}

/** The two blocks for a call that did not run: the call without input, and its error. */
export function toRejectedExchange(rejected: RejectedToolCall): {
  toolUse: AnthropicToolUse
  toolResult: AnthropicToolResult
} {
  const { id, name, reason } = rejected
  const argumentsNote = rejected.arguments === '' ? '' : ` The arguments were: ${rejected.arguments.slice(0, 2000)}`
  return {
    toolUse: { type: 'tool_use', id, name: name.trim() === '' ? 'unknown' : name, input: {} },
    toolResult: {
      type: 'tool_result',
      tool_use_id: id,
      content: `The call did not run. ${reason}${argumentsNote}`,
      is_error: true,
    },
  }
}

/** A stored call as a part for Gemini, with its signature if it has one. */
export function toFunctionCall(block: StoredToolUse): GeminiPart {
  const args = isObject(block.input) ? block.input : {}
  return {
    functionCall: { id: block.id, name: block.name, args },
    ...defined({ thoughtSignature: block.thoughtSignature }),
  }
}

/** Never has an empty output. With `nested` (Gemini 3 and later) images are inside; otherwise a line replaces them. */
export function toFunctionResponse(
  block: AnthropicToolResultLike,
  toolName: string,
  options: { readonly nested?: boolean } = {},
): GeminiPart {
  const content = typeof block.content === 'string' ? [{ type: 'text', text: block.content }] : (block.content ?? [])
  const lines: string[] = []
  const parts: NonNullable<GeminiFunctionResponse['parts']> = []
  for (const item of content) {
    const media = options.nested && item.type === 'image' ? toInlineData(item.source) : undefined
    if (item.type === 'text') lines.push(stringOrEmpty(item.text))
    else if (media) parts.push({ inlineData: media })
    else lines.push(`(content of type ${item.type} was left out)`)
  }
  const joinedText = lines.join('\n')
  const text = joinedText.trim() !== '' ? joinedText : parts.length > 0 ? '(see the attached media)' : '(no output)'
  return {
    functionResponse: {
      id: block.tool_use_id,
      name: toolName,
      response: block.is_error ? { error: text } : { output: text },
      ...(parts.length > 0 && { parts }),
    },
  }
}

function toInlineData(source: unknown): GeminiBlob | undefined {
  if (!isObject(source) || source['type'] !== 'base64') return undefined
  return { mimeType: stringOrEmpty(source['media_type']), data: stringOrEmpty(source['data']) }
}
