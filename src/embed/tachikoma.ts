// dragoman/embed/tachikoma: for hosts with a Gemini backend of their own, by the names of Tachikoma.
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
export type {
  GeminiBlob,
  GeminiContent,
  GeminiFile,
  GeminiFunctionCall,
  GeminiFunctionDeclaration,
  GeminiFunctionResponse,
  GeminiPart,
  GeminiTool,
  GeminiToolConfig,
} from './vendor-types/gemini.ts'
export type { Warning } from '../model/event.ts'
export type { Fault } from '../model/fault.ts'
export type { Json, JsonObject } from '../model/json.ts'
export type { Usage } from '../model/usage.ts'
