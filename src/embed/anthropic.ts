// dragoman/embed/anthropic: Anthropic's Messages API, and endpoints compatible with it.
import type { ToolDefinition } from './tool-calls/definitions.ts'
import {
  type CallResult,
  type DeclareToolsOptions,
  encodeContinuation,
  encodeToolFields,
  type ToHistoryOptions,
} from './tool-calls/request.ts'
import {
  type AssembledResponse,
  createResponseAssembler,
  type ResponseAssembler,
  type ResponseAssemblerOptions,
} from './tool-calls/response-assembler.ts'
import type { AnthropicEvent, AnthropicMessage, AnthropicTool, AnthropicToolChoice } from './vendor-types/anthropic.ts'
import { anthropic } from '../wire/anthropic/wire.ts'

/** Creates an assembler for one response of the Messages API. Several can be used in parallel. */
export function createAssembler(options: ResponseAssemblerOptions = {}): ResponseAssembler<AnthropicEvent> {
  return createResponseAssembler(anthropic, options)
}

/** The fields of a request that declare tools, in names and schemas that the vendor accepts; none without tools. */
export function declareTools(tools: readonly ToolDefinition[], options: DeclareToolsOptions = {}): AnthropicToolFields {
  return encodeToolFields(anthropic, ['tools', 'tool_choice'], tools, options)
}

/** The messages to append to the history: the response with its thinking blocks, and the results of its calls. */
export function toHistory(
  response: AssembledResponse,
  results: readonly CallResult[] = [],
  options: ToHistoryOptions = {},
): AnthropicMessage[] {
  return encodeContinuation(anthropic, response, results, options)['messages'] as unknown as AnthropicMessage[]
}

export type { ToolDefinition } from './tool-calls/definitions.ts'
export { assembleStream } from './tool-calls/response-assembler.ts'
export type {
  AssembledCall,
  AssembledResponse,
  RejectedCall,
  ResponseAssembler,
  ResponseAssemblerOptions,
  ResponseEvent,
  ResponseTurn,
} from './tool-calls/response-assembler.ts'
export type { CallResult, DeclareToolsOptions, ResultMedia, ToHistoryOptions } from './tool-calls/request.ts'
export type {
  AnthropicEvent,
  AnthropicImage,
  AnthropicMessage,
  AnthropicText,
  AnthropicTool,
  AnthropicToolChoice,
  AnthropicToolResult,
  AnthropicToolResultLike,
  AnthropicToolUse,
} from './vendor-types/anthropic.ts'
export {
  toApiHistory,
  toRejectedExchange,
  toToolUse,
  toToolUse as processNativeToolCalls,
  type AssistantMessageContent,
  type StoredToolUse,
  type TextContent,
  type ToolCallLike,
  type ToolUse,
} from './kilocode/history.ts'
export type { RejectedToolCall } from './kilocode/assembler.ts'
export type { Warning } from '../model/event.ts'
export type { Fault } from '../model/fault.ts'
export type { Finish, NativeData } from '../model/turn.ts'
export type { ToolChoice } from '../model/request.ts'
export type { Usage } from '../model/usage.ts'
export type { Json, JsonObject } from '../model/json.ts'

/** The fields of a request that declare tools. */
export interface AnthropicToolFields {
  tools?: AnthropicTool[]
  tool_choice?: AnthropicToolChoice
}
