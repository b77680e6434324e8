import type Anthropic from '@anthropic-ai/sdk'
import type { FunctionResponsePart, Part } from '@google/genai'
import { isObject, type JsonObject } from '../../model/json.ts'
import { parseArguments } from '../../wire/calls/parse-arguments.ts'
import type { RejectedToolCall } from './assembler.ts'
import { createToolId } from './tool-id.ts'

/** Text of an assistant message, as a host keeps it. */
export interface TextContent {
  type: 'text'
  content: string
  partial: boolean
}

/** A tool call of an assistant message, as a host keeps it; the id stays the same for life. */
export interface ToolUse {
  type: 'tool_use'
  id: string
  name: string
  params: JsonObject
  partial: boolean
  thoughtSignature?: string
}

/** What an assistant message consists of. */
export type AssistantMessageContent = TextContent | ToolUse

/** A complete call in any host's chunk type. */
export interface ToolCallLike {
  readonly id?: string | undefined
  readonly function?: { readonly name?: string | undefined; readonly arguments?: string | undefined } | undefined
  readonly thoughtSignature?: string | undefined
}

/** A `tool_use` block of a stored history, with the signature where it was asked for. */
export type StoredToolUse = Anthropic.ToolUseBlockParam & { thoughtSignature?: string }

/**
 * Makes blocks of complete calls, each with the id of its call. A call that has no name, or whose arguments are not one
 * whole JSON object, is not among them but among the rejected; nothing is thrown.
 */
export function toToolUse(
  toolCalls: readonly ToolCallLike[],
  createId: (name: string) => string = createToolId,
): { blocks: ToolUse[]; rejected: RejectedToolCall[] } {
  const blocks: ToolUse[] = []
  const rejected: RejectedToolCall[] = []
  for (const { id: givenId, function: calledFunction, thoughtSignature } of toolCalls) {
    const { name = '', arguments: args = '' } = calledFunction ?? {}
    const id = givenId || createId(name)
    const parsedArguments = parseArguments(args)
    const [params, ...more] = parsedArguments.ok ? parsedArguments.inputs : []
    const reject = (reason: string) => void rejected.push({ id, name, arguments: args, reason })
    if (name.trim() === '') reject('The call has no name.')
    else if (!parsedArguments.ok) reject(parsedArguments.message)
    else if (!params || more.length > 0) reject('The call holds several argument objects; make one call for each.')
    else {
      const signature = thoughtSignature === undefined ? {} : { thoughtSignature }
      blocks.push({ type: 'tool_use', id, name, params, partial: false, ...signature })
    }
  }
  return { blocks, rejected }
}

/**
 * Makes the content of the assistant message that goes into the history: all of it, calls under their own ids. Empty
 * text and calls that never became whole are left out; `assistantMessage` stands in where nothing else is left.
 */
export function toApiHistory(
  content: readonly AssistantMessageContent[],
  assistantMessage = '',
  options: {
    /** Keep Gemini's signatures on the blocks; other vendors refuse them. */ readonly signatures?: boolean
  } = {},
): (Anthropic.TextBlockParam | StoredToolUse)[] {
  const blocks = content.flatMap((block): (Anthropic.TextBlockParam | StoredToolUse)[] => {
    if (block.type === 'text') return block.content.trim() === '' ? [] : [{ type: 'text', text: block.content }]
    if (block.partial) return []
    const { id, name, params, thoughtSignature: signature } = block
    const signed = options.signatures && signature !== undefined ? { thoughtSignature: signature } : {}
    return [{ type: 'tool_use', id, name, input: params, ...signed }]
  })
  if (blocks.length > 0) return blocks
  // Every vendor refuses a message without content, for ever after.
  return [{ type: 'text', text: assistantMessage.trim() === '' ? '(no answer)' : assistantMessage }]
}

/** Makes the two blocks by which a history tells that a call did not run: the call without input, and its error. */
export function toRejectedExchange(rejected: RejectedToolCall): {
  toolUse: Anthropic.ToolUseBlockParam
  toolResult: Anthropic.ToolResultBlockParam
} {
  const { id, name, reason } = rejected
  const argumentsNote = rejected.arguments === '' ? '' : ` The arguments came as: ${rejected.arguments.slice(0, 2000)}`
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

/** Makes Gemini's part of a stored call. */
export function toFunctionCall(block: StoredToolUse): Part {
  const args = isObject(block.input) ? block.input : {}
  const signed = block.thoughtSignature === undefined ? {} : { thoughtSignature: block.thoughtSignature }
  return { functionCall: { id: block.id, name: block.name, args }, ...signed }
}

/**
 * Makes Gemini's part of a tool result, never with an empty output. An error goes under `error`. Pictures go inside
 * with `nested` (Gemini 3 and later); otherwise a line tells that they were there.
 */
export function toFunctionResponse(
  block: Anthropic.ToolResultBlockParam,
  toolName: string,
  options: { readonly nested?: boolean } = {},
): Part {
  const content =
    typeof block.content === 'string' ? [{ type: 'text' as const, text: block.content }] : (block.content ?? [])
  const lines: string[] = []
  const parts: FunctionResponsePart[] = []
  for (const item of content) {
    if (item.type === 'text') lines.push(item.text)
    else if (options.nested && item.type === 'image' && item.source.type === 'base64') {
      parts.push({ inlineData: { mimeType: item.source.media_type, data: item.source.data } })
    } else lines.push(`(content of type ${item.type} was left out)`)
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
