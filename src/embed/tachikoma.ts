/** The helpers of a host with a Gemini backend of its own, such as Tachikoma, by the names it knows. */
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
export { GeminiToolHandler, type ToolExecutor } from './tachikoma/handler.ts'
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
