/** For hosts with OpenAI's stream and Anthropic's history, such as Kilo Code, by the names that they use. */
export {
  nativeToolCallAssembler,
  type AssembledToolCalls,
  type AssemblerOptions,
  type CompleteToolCall,
  type NativeToolCallAssembler,
  type RejectedToolCall,
} from './kilocode/assembler.ts'
export {
  geminiRequestBody,
  geminiToolCallReader,
  nativeToolCallsFromGeminiPart,
  openAiToolsToGemini,
  type GeminiRequestBody,
  type GeminiRequestOptions,
  type GeminiToolCallReaderOptions,
} from './kilocode/gemini.ts'
export {
  toApiHistory,
  toFunctionCall,
  toFunctionResponse,
  toRejectedExchange,
  toToolUse,
  toToolUse as processNativeToolCalls,
  type AssistantMessageContent,
  type StoredToolUse,
  type TextContent,
  type ToolCallLike,
  type ToolUse,
} from './kilocode/history.ts'
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

/** For hosts that use Gemini's own API, such as Gemini CLI. */
export {
  convertToFunctionResponse,
  dataUrl,
  functionResponsePart,
  wrapToolResult,
  type FunctionResponseOptions,
} from './gemini-cli/function-response.ts'
export { countTokens, countTokensBody, type CountTokensRequest } from './gemini-cli/count-tokens.ts'
export type { DiffStat, FileDiff, ToolResult as GeminiCliToolResult } from './gemini-cli/tool-result.ts'
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

/** For hosts with a Gemini backend of their own, such as Tachikoma. */
export {
  parseFunctionCall,
  toGeminiFunction,
  toGeminiFunctionResponse,
  toGeminiFunctionResponseContent,
  toGeminiToolConfig,
  toGeminiTools,
  toModelContentWithFunctions,
  type DeclareOptions,
} from './tachikoma/convert.ts'
export { GeminiToolHandler, type ToolExecutor, type ToolHandlerEvent } from './tachikoma/tool-handler.ts'
export {
  createStream,
  GeminiStream,
  GeminiStreamError,
  type CompletionChunk,
  type GeminiStreamOptions,
  type ToolCallDelta,
} from './tachikoma/stream.ts'
export {
  errorResult,
  jsonResult,
  textResult,
  type ToolCall,
  type ToolChoice,
  type ToolDefinition,
  type ToolResult,
  type ToolResultContent,
} from './tachikoma/types.ts'
/** The shapes of the vendors' APIs. */
export type {
  AnthropicText,
  AnthropicToolResult,
  AnthropicToolResultLike,
  AnthropicToolUse,
} from './vendor-types/anthropic.ts'
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
  GeminiTool,
  GeminiToolConfig,
} from './vendor-types/gemini.ts'
export type { ChatDelta, ChatParams, ChatTool, ChatToolChoice } from './vendor-types/openai.ts'
export type { Finish, NativeData } from '../model/turn.ts'
export type { Warning } from '../model/event.ts'
export type { Fault } from '../model/fault.ts'
export type { Json, JsonObject } from '../model/json.ts'
export type { Usage } from '../model/usage.ts'
