import type { Warning } from '../../model/event.ts'
import type { ToolSpec } from '../../model/request.ts'
import { declareTools } from '../../schema/dialect/declare-tools.ts'
import { openaiChat } from '../../wire/openai-chat/wire.ts'
import { declareForGemini } from '../gemini-declarations.ts'
import type {
  GeminiCallingMode,
  GeminiContent,
  GeminiPart,
  GeminiTool,
  GeminiToolConfig,
} from '../vendor-types/gemini.ts'
import type { ChatTool } from '../vendor-types/openai.ts'
import { createToolStyleWarning, type NativeToolCallsChunk, type ToolStyle } from './native-tool-calls.ts'
import { createToolId, createToolIdGenerator } from './tool-id.ts'
import { defined } from '../../model/defined.ts'

/**
 * Yields the call of a Gemini part as a chunk. A call without an id gets one. A fragment of a call is dropped, and so is
 * every call if the tool style is not `json`.
 */
export function* nativeToolCallsFromGeminiPart(
  part: GeminiPart,
  createId: (name: string) => string = createToolId,
  onWarning?: (warning: Warning) => void,
  toolStyle: ToolStyle = 'json',
): Generator<NativeToolCallsChunk, void, undefined> {
  const { functionCall: call, thoughtSignature: signature } = part
  if (!call) return
  if (toolStyle !== 'json') {
    onWarning?.(createToolStyleWarning(toolStyle))
    return
  }
  if (!call.name || call.willContinue || call.partialArgs) {
    onWarning?.({ code: 'no-whole-call', message: `A fragment of a call of ${call.name || 'no name'} was dropped.` })
    return
  }
  const args: unknown = call.args
  const toolCall = {
    id: call.id || createId(call.name),
    type: 'function',
    function: { name: call.name, arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}) },
    ...(signature && { thoughtSignature: signature }),
  }
  yield { type: 'native_tool_calls', toolCalls: [toolCall] }
}

/** How a reader makes ids, and which calls it lets pass. */
export interface GeminiToolCallReaderOptions {
  /** Part of every id that the reader creates; unique among readers whose ids are used together. Random by default. */
  readonly prefix?: string
  /** The tools of the request, so that calls have the names that the host gave them. */
  readonly tools?: readonly ChatTool[] | undefined
  /** With `xml`, calls are dropped with a warning. */
  readonly toolStyle?: ToolStyle | undefined
  readonly onWarning?: (warning: Warning) => void
}

/** Creates a reader whose ids never repeat. Use one per session. */
export function geminiToolCallReader(
  options: GeminiToolCallReaderOptions = {},
): (part: GeminiPart) => Generator<NativeToolCallsChunk, void, undefined> {
  const createId = createToolIdGenerator(options.prefix)
  const declarations = options.tools && declareTools(toToolSpecs(options.tools), 'gemini-json')
  return function* (part) {
    for (const chunk of nativeToolCallsFromGeminiPart(part, createId, options.onWarning, options.toolStyle)) {
      for (const { function: calledFunction } of chunk.toolCalls)
        calledFunction.name = declarations?.toToolName(calledFunction.name) ?? calledFunction.name
      yield chunk
    }
  }
}

/** A tool that cannot be declared is skipped. */
export function openAiToolsToGemini(tools: readonly ChatTool[], onWarning?: (warning: Warning) => void): GeminiTool[] {
  const functionDeclarations = declareForGemini(toToolSpecs(tools), 'gemini-json', onWarning)
  return functionDeclarations.length > 0 ? [{ functionDeclarations }] : []
}

/** What a Code Assist request is made from. `Content` and `Config` are the host's own types of messages and settings. */
export interface GeminiRequestOptions<Content = GeminiContent, Config = object> {
  readonly model: string
  readonly project?: string | undefined
  readonly contents: readonly Content[]
  readonly systemInstruction?: string | undefined
  readonly tools?: readonly ChatTool[] | undefined
  /** With `xml`, no tools are sent. */
  readonly toolStyle?: ToolStyle | undefined
  /** The default is `ANY`, which forces a call, so that the model can never finish. */
  readonly mode?: GeminiCallingMode
  readonly generationConfig?: Config | undefined
  readonly onWarning?: (warning: Warning) => void
}

/** The body of a Code Assist request. */
export interface GeminiRequestBody<Content = GeminiContent, Config = object> {
  model: string
  project?: string
  request: {
    systemInstruction?: GeminiContent
    tools?: GeminiTool[]
    toolConfig?: GeminiToolConfig
    generationConfig?: Config
    contents: Content[]
  }
}

/** The body of a Code Assist request. The contents are last, so that a longer history extends the bytes. */
export function geminiRequestBody<Content = GeminiContent, Config = object>(
  options: GeminiRequestOptions<Content, Config>,
): GeminiRequestBody<Content, Config> {
  const isNative = (options.toolStyle ?? 'json') === 'json'
  const tools = openAiToolsToGemini(isNative ? (options.tools ?? []) : [], options.onWarning)
  const { systemInstruction: system, generationConfig } = options
  const mode = options.mode ?? 'ANY'
  return {
    model: options.model,
    ...defined({ project: options.project }),
    request: {
      ...(system && { systemInstruction: { role: 'user', parts: [{ text: system }] } }),
      // The API does not allow a calling mode without tools.
      ...(tools.length > 0 && { tools, toolConfig: { functionCallingConfig: { mode } } }),
      ...defined({ generationConfig }),
      contents: [...options.contents],
    },
  }
}

/** Gemini has no tools with free text; they get it as their only argument. */
function toToolSpecs(tools: readonly ChatTool[]): ToolSpec[] {
  return openaiChat
    .readRequest({ tools })
    .request.tools.map(({ freeform, ...tool }) => (freeform ? { ...tool, schema: FREE_TEXT_SCHEMA } : tool))
}

const FREE_TEXT_SCHEMA = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }
