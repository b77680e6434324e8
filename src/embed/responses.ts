// dragoman/embed/responses: OpenAI's Responses API, and endpoints compatible with it.
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
import type {
  ResponsesEvent,
  ResponsesFunctionTool,
  ResponsesItem,
  ResponsesToolChoice,
} from './vendor-types/responses.ts'
import { openaiResponses } from '../wire/openai-responses/wire.ts'

/** Creates an assembler for one response of the Responses API. Several can be used in parallel. */
export function createAssembler(options: ResponseAssemblerOptions = {}): ResponseAssembler<ResponsesEvent> {
  return createResponseAssembler(openaiResponses, options)
}

/** The fields of a request that declare tools, in names and schemas that the vendor accepts; none without tools. */
export function declareTools(tools: readonly ToolDefinition[], options: DeclareToolsOptions = {}): ResponsesToolFields {
  return encodeToolFields(openaiResponses, ['tools', 'tool_choice', 'parallel_tool_calls'], tools, options)
}

/** The items to append to `input`: the response with its reasoning, and the results of its calls. `Item` is the type of your history. */
export function toHistory<Item = ResponsesItem>(
  response: AssembledResponse,
  results: readonly CallResult[] = [],
  options: ToHistoryOptions = {},
): Item[] {
  return encodeContinuation(openaiResponses, response, results, options)['input'] as unknown as Item[]
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
  ResponsesEvent,
  ResponsesFunctionTool,
  ResponsesItem,
  ResponsesToolChoice,
} from './vendor-types/responses.ts'
export type { Warning } from '../model/event.ts'
export type { Fault } from '../model/fault.ts'
export type { Finish, NativeData } from '../model/turn.ts'
export type { ToolChoice } from '../model/request.ts'
export type { Usage } from '../model/usage.ts'
export type { Json, JsonObject } from '../model/json.ts'

/** The fields of a request that declare tools. */
export interface ResponsesToolFields {
  tools?: ResponsesFunctionTool[]
  tool_choice?: ResponsesToolChoice
  parallel_tool_calls?: boolean
}
