import type { Warning } from '../../model/event.ts'
import { isObject } from '../../model/json.ts'
import type { ChatDelta, ChatParams, ChatTool, ChatToolChoice } from '../vendor-types/openai.ts'

/** The providers of Kilo Code that support native tool calls. */
export const nativeFunctionCallingProviders = ['openrouter', 'kilocode', 'lm-studio', 'gemini-cli'] as const

/** The name of such a provider. */
export type NativeFunctionCallingProvider = (typeof nativeFunctionCallingProviders)[number]

/** `xml`: tools are described in the prompt. `json`: native tool calls. */
export type ToolStyle = 'xml' | 'json'

/** The tool style that applies: `json` only if it is set, and the provider, if it is named, supports native tool calls. */
export function getActiveToolUseStyle(
  options: { readonly toolStyle?: ToolStyle | undefined; readonly apiProvider?: string | undefined } | undefined,
): ToolStyle {
  const names: readonly string[] = nativeFunctionCallingProviders
  const isSupported = options?.apiProvider === undefined || names.includes(options.apiProvider)
  return isSupported ? (options?.toolStyle ?? 'xml') : 'xml'
}

/** The warning about a call that is dropped, because the tool style does not allow it. */
export function createToolStyleWarning(toolStyle: ToolStyle | undefined): Warning {
  const style = toolStyle ?? 'not set'
  return {
    code: 'tool-style',
    message: `The model made a native tool call, but the tool style is ${style}; the call was dropped.`,
  }
}

/** A tool call, or a fragment of one. */
export interface NativeToolCall {
  /** The number of the call, if the endpoint sends one: fragments with the same number belong together. */
  index?: number
  /** Usually only on the first fragment. */
  id?: string
  type?: string
  function: { name: string; arguments: string }
  /** Gemini's signature of the call, which Gemini 3 wants back with it. */
  thoughtSignature?: string
}

/** A chunk of a host's stream with tool calls. */
export interface NativeToolCallsChunk {
  type: 'native_tool_calls'
  toolCalls: NativeToolCall[]
}

/** The metadata of a request, as far as it concerns tools. */
export interface NativeToolCallMetadata {
  readonly allowedTools?: readonly ChatTool[] | undefined
}

/** Overrides of two defaults that not every endpoint accepts; `omit` leaves the field out. */
export interface NativeToolCallSettings {
  /** The default `required` forces a call, so that the model can never finish; some servers do not support it. */
  readonly toolChoice?: ChatToolChoice | 'omit'
  readonly parallel?: boolean | 'omit'
}

/**
 * Adds `tools`, `tool_choice: 'required'` and `parallel_tool_calls: false` to a request, if the tool style is `json` and
 * there are tools. Returns a copy; values that the params already have are kept.
 */
export function addNativeToolCallsToParams<T extends ChatParams>(
  params: T,
  options: { readonly toolStyle?: ToolStyle | undefined },
  metadata?: NativeToolCallMetadata,
  settings: NativeToolCallSettings = {},
): T {
  const tools = metadata?.allowedTools ?? []
  // Endpoints do not accept the other two without tools.
  if (options.toolStyle !== 'json' || tools.length === 0) return { ...params }
  const choice = settings.toolChoice ?? params.tool_choice ?? 'required'
  const parallel = settings.parallel ?? params.parallel_tool_calls ?? false
  return {
    ...params,
    tools: [...tools],
    ...(choice !== 'omit' && { tool_choice: choice }),
    ...(parallel !== 'omit' && { parallel_tool_calls: parallel }),
  }
}

/**
 * Yields the tool calls of one delta as a chunk. Fragments are not assembled; `nativeToolCallAssembler` does that. Anything
 * else goes to `onWarning`, by default the console.
 */
export function* processNativeToolCallsFromDelta(
  delta: ChatDelta | null | undefined,
  toolStyle: ToolStyle | undefined,
  onWarning: (warning: Warning) => void = printWarning,
): Generator<NativeToolCallsChunk, void, undefined> {
  const pieces: unknown = delta?.tool_calls
  if (!Array.isArray(pieces) || pieces.length === 0) return
  if (toolStyle !== 'json') {
    onWarning(createToolStyleWarning(toolStyle))
    return
  }
  const toolCalls: NativeToolCall[] = []
  for (const piece of pieces) {
    const call = toNativeToolCall(piece)
    if (call) toolCalls.push(call)
    else
      onWarning({ code: 'no-function', message: `A tool call without a function was dropped: ${formatExcerpt(piece)}` })
  }
  if (toolCalls.length > 0) yield { type: 'native_tool_calls', toolCalls }
}

function toNativeToolCall(piece: unknown): NativeToolCall | undefined {
  if (!isObject(piece) || !isObject(piece['function'])) return undefined
  const { index, id, type } = piece
  const { name, arguments: args } = piece['function']
  return {
    ...(typeof index === 'number' && { index }),
    ...(typeof id === 'string' && { id }),
    ...(typeof type === 'string' && { type }),
    function: { name: typeof name === 'string' ? name : '', arguments: toArgumentText(args) },
  }
}

/** Some servers send the arguments as an object. */
function toArgumentText(args: unknown): string {
  if (typeof args === 'string') return args
  return args === undefined || args === null ? '' : JSON.stringify(args)
}

function formatExcerpt(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 200)
}

function printWarning(warning: Warning): void {
  console.error(warning.message)
}
