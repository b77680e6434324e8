/** The helpers of a host with OpenAI's stream and Anthropic's history, such as Kilo Code, by the names it knows. */
export {
  addNativeToolCallsToParams,
  processNativeToolCallsFromDelta,
  type NativeToolCall,
  type NativeToolCallMetadata,
  type NativeToolCallsChunk,
  type NativeToolCallSettings,
  type ToolStyle,
} from './kilocode/native-tool-calls.ts'
export {
  nativeToolCallAssembler,
  type AssembledToolCalls,
  type AssemblerOptions,
  type CompleteToolCall,
  type NativeToolCallAssembler,
  type RejectedToolCall,
} from './kilocode/assembler.ts'
export {
  toApiHistory,
  toFunctionCall,
  toFunctionResponse,
  toRejectedExchange,
  toToolUse,
  type AssistantMessageContent,
  type StoredToolUse,
  type TextContent,
  type ToolCallLike,
  type ToolUse,
} from './kilocode/history.ts'
export {
  geminiRequestBody,
  geminiToolCallReader,
  nativeToolCallsFromGeminiPart,
  openAiToolsToGemini,
  type GeminiRequestBody,
  type GeminiRequestOptions,
  type GeminiToolCallReaderOptions,
} from './kilocode/gemini.ts'
