// dragoman/embed/openai: OpenAI's chat completions, and endpoints compatible with it.
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
import type { ChatChunk, ChatFunctionTool, ChatMessage } from './vendor-types/openai.ts'
import { openaiChat } from '../wire/openai-chat/wire.ts'

/** Creates an assembler for one response of the chat completions API. Several can be used in parallel. */
export function createAssembler(options: ResponseAssemblerOptions = {}): ResponseAssembler<ChatChunk> {
  return createResponseAssembler(openaiChat, options)
}

/** The fields of a request that declare tools, in names and schemas that the vendor accepts; none without tools. */
export function declareTools(tools: readonly ToolDefinition[], options: DeclareToolsOptions = {}): ChatToolFields {
  return encodeToolFields(openaiChat, ['tools', 'tool_choice', 'parallel_tool_calls'], tools, options)
}

/** The messages to append to the history: the response, and the results of its calls. */
export function toHistory(
  response: AssembledResponse,
  results: readonly CallResult[] = [],
  options: ToHistoryOptions = {},
): ChatMessage[] {
  return encodeContinuation(openaiChat, response, results, options)['messages'] as unknown as ChatMessage[]
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
  ChatChunk,
  ChatDelta,
  ChatFunctionTool,
  ChatMessage,
  ChatParams,
  ChatTool,
  ChatToolChoice,
} from './vendor-types/openai.ts'
export {
  nativeToolCallAssembler,
  type AssembledToolCalls,
  type AssemblerOptions,
  type CompleteToolCall,
  type NativeToolCallAssembler,
  type RejectedToolCall,
} from './kilocode/assembler.ts'
export {
  addNativeToolCallsToParams,
  getActiveToolUseStyle,
  nativeFunctionCallingProviders,
  processNativeToolCallsFromDelta,
  type NativeFunctionCallingProvider,
  type NativeToolCall,
  type NativeToolCallMetadata,
  type NativeToolCallMetadata as ApiHandlerCreateMessageMetadata,
  type NativeToolCallsChunk,
  type NativeToolCallsChunk as ApiStreamNativeToolCallsChunk,
  type NativeToolCallSettings,
  type ToolStyle,
} from './kilocode/native-tool-calls.ts'
export type { Warning } from '../model/event.ts'
export type { Fault } from '../model/fault.ts'
export type { Finish, NativeData } from '../model/turn.ts'
export type { ToolChoice } from '../model/request.ts'
export type { Usage } from '../model/usage.ts'
export type { Json, JsonObject } from '../model/json.ts'

/** The fields of a request that declare tools. */
export interface ChatToolFields {
  tools?: ChatFunctionTool[]
  /** For `only` it is `allowed_tools`, which older SDKs have no type for. */
  tool_choice?: 'auto' | 'none' | 'required' | { type: 'function'; function: { name: string } }
  parallel_tool_calls?: boolean
}
