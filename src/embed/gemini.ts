// dragoman/embed/gemini: Gemini's generateContent, also in the envelope of Code Assist.
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
import type { GeminiContent, GeminiResponse, GeminiTool, GeminiToolConfig } from './vendor-types/gemini.ts'
import { gemini } from '../wire/gemini/wire.ts'

/** Creates an assembler for one response of Gemini, or of Code Assist. Several can be used in parallel. */
export function createAssembler(options: ResponseAssemblerOptions = {}): ResponseAssembler<GeminiResponse> {
  return createResponseAssembler(gemini, options)
}

/** The fields of a request that declare tools, in names and schemas that the vendor accepts; none without tools. */
export function declareTools(tools: readonly ToolDefinition[], options: DeclareToolsOptions = {}): GeminiToolFields {
  return encodeToolFields(gemini, ['tools', 'toolConfig'], tools, options)
}

/** The contents to append to the history: the response with its signatures, and the results of its calls. */
export function toHistory(
  response: AssembledResponse,
  results: readonly CallResult[] = [],
  options: ToHistoryOptions = {},
): GeminiContent[] {
  return encodeContinuation(gemini, response, results, options)['contents'] as unknown as GeminiContent[]
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
  GeminiBlob,
  GeminiCallingMode,
  GeminiContent,
  GeminiFile,
  GeminiFunctionCall,
  GeminiFunctionDeclaration,
  GeminiFunctionResponse,
  GeminiPart,
  GeminiPartList,
  GeminiResponse,
  GeminiTool,
  GeminiToolConfig,
} from './vendor-types/gemini.ts'
export {
  convertToFunctionResponse,
  dataUrl,
  functionResponsePart,
  wrapToolResult,
  type FunctionResponseOptions,
} from './gemini-cli/function-response.ts'
export { countTokens, countTokensBody, type CountTokensRequest } from './gemini-cli/count-tokens.ts'
export type { DiffStat, FileDiff, ToolResult } from './gemini-cli/tool-result.ts'
export {
  getStringifiedResultForDisplay,
  transformMcpContentToParts,
  type McpContentBlock,
} from './gemini-cli/mcp-content.ts'
export { buildRequest, headers, toolsForModel } from './gemini-cli/request.ts'
export { formatShellResult, type ShellResult } from './gemini-cli/shell-result.ts'
export { generateValidName, generateValidName as sanitizeToolName } from '../schema/dialect/tool-names.ts'
export { hasCycleInSchema } from '../schema/normalize/detect-cycles.ts'
export { hasValidTypes } from '../schema/normalize/has-valid-types.ts'
export { qualifyToolName as fullyQualified } from '../tool/mcp/tools/tool-names.ts'
export {
  geminiRequestBody,
  geminiToolCallReader,
  nativeToolCallsFromGeminiPart,
  openAiToolsToGemini,
  type GeminiRequestBody,
  type GeminiRequestOptions,
  type GeminiToolCallReaderOptions,
} from './kilocode/gemini.ts'
export { toFunctionCall, toFunctionResponse, type StoredToolUse } from './kilocode/history.ts'
export type { NativeToolCall, NativeToolCallsChunk, ToolStyle } from './kilocode/native-tool-calls.ts'
export type { AnthropicToolResultLike, AnthropicToolUse } from './vendor-types/anthropic.ts'
export type { ChatTool } from './vendor-types/openai.ts'
export type { Warning } from '../model/event.ts'
export type { Fault } from '../model/fault.ts'
export type { Finish, NativeData } from '../model/turn.ts'
export type { ToolChoice } from '../model/request.ts'
export type { Usage } from '../model/usage.ts'
export type { Json, JsonObject } from '../model/json.ts'

/** The fields of a request that declare tools. */
export interface GeminiToolFields {
  tools?: GeminiTool[]
  toolConfig?: GeminiToolConfig
}
