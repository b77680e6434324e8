import type OpenAI from 'openai'
import type { Warning } from '../../model/event.ts'
import { isObject } from '../../model/json.ts'

/** How a host asks a model for tool calls: described in the prompt, or natively. */
export type ToolStyle = 'xml' | 'json'

/** One tool call, or a piece of one, in the shape in which hosts pass it on. */
export interface NativeToolCall {
  /** Tells the pieces of one call from those of another, where the endpoint numbers them. */
  index?: number
  /** Usually only on the first piece. */
  id?: string
  type?: string
  function: { name: string; arguments: string }
  /** Gemini's signature of the call, which Gemini 3 wants back with it. */
  thoughtSignature?: string
}

/** A chunk of a host's stream that carries tool calls. */
export interface NativeToolCallsChunk {
  type: 'native_tool_calls'
  toolCalls: NativeToolCall[]
}

/** What a host knows about one request; only the tools matter here. */
export interface NativeToolCallMetadata {
  readonly allowedTools?: readonly OpenAI.Chat.ChatCompletionTool[] | undefined
}

/** Changes the two defaults that do not suit every endpoint; `omit` adds nothing. */
export interface NativeToolCallSettings {
  /** A model that must call can never finish, and some servers refuse the word; `auto` or `omit` let it decide. */
  readonly toolChoice?: OpenAI.Chat.ChatCompletionToolChoiceOption | 'omit'
  readonly parallel?: boolean | 'omit'
}

/**
 * Adds the tools to a request: `tools`, `tool_choice: 'required'` and `parallel_tool_calls: false`, when the tool style
 * is `json` and there are tools. Gives a copy; what the params already say of choice and parallel calls stays.
 */
export function addNativeToolCallsToParams<T extends OpenAI.Chat.ChatCompletionCreateParams>(
  params: T,
  options: { readonly toolStyle?: ToolStyle | undefined },
  metadata?: NativeToolCallMetadata,
  settings: NativeToolCallSettings = {},
): T {
  const tools = metadata?.allowedTools ?? []
  // Without tools an endpoint refuses the other two.
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
 * Passes on the tool calls of one delta as a chunk. It keeps no state, so a piece stays a piece; whole calls come from
 * `nativeToolCallAssembler`. What cannot be passed on goes to `onWarning`, by default the console.
 */
export function* processNativeToolCallsFromDelta(
  delta: OpenAI.Chat.ChatCompletionChunk.Choice.Delta | null | undefined,
  toolStyle: ToolStyle | undefined,
  onWarning: (warning: Warning) => void = printWarning,
): Generator<NativeToolCallsChunk, void, undefined> {
  const pieces: unknown = delta?.tool_calls
  if (!Array.isArray(pieces) || pieces.length === 0) return
  if (toolStyle !== 'json') {
    onWarning({
      code: 'tool-style',
      message: `The model called natively, but the tool style is ${toolStyle ?? 'not set'}; the call was dropped.`,
    })
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
