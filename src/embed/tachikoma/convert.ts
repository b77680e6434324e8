import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { declareTools } from '../../schema/dialect/declare-tools.ts'
import { parseCallArguments } from '../../wire/calls/parse-arguments.ts'
import { toToolSpec } from '../tool-calls/definitions.ts'
import { declareForGemini, type GeminiDialect } from '../gemini-declarations.ts'
import type {
  GeminiCallingMode,
  GeminiContent,
  GeminiFunctionDeclaration,
  GeminiPart,
  GeminiTool,
  GeminiToolConfig,
} from '../vendor-types/gemini.ts'
import type { ToolCall, ToolChoice, ToolDefinition, ToolResult, ToolResultContent } from './types.ts'
import { defined } from '../../model/defined.ts'

/** How tools are declared. */
export interface DeclareOptions {
  /** The default is `gemini`. */
  readonly dialect?: GeminiDialect
  readonly onWarning?: (warning: Warning) => void
}

/** Throws if the schema cannot be declared at all. */
export function toGeminiFunction(tool: ToolDefinition, options: DeclareOptions = {}): GeminiFunctionDeclaration {
  let problem = ''
  const warn = (warning: Warning) => {
    problem = warning.message
    options.onWarning?.(warning)
  }
  const [declaration] = declareForGemini([toToolSpec(tool)], options.dialect ?? 'gemini', warn)
  if (!declaration) throw new TypeError(`The tool cannot be declared: ${problem}`)
  return declaration
}

/** One tool object with all declarations. A tool that cannot be declared is skipped. */
export function toGeminiTools(tools: readonly ToolDefinition[], options: DeclareOptions = {}): GeminiTool[] {
  const functionDeclarations = declareForGemini(tools.map(toToolSpec), options.dialect ?? 'gemini', options.onWarning)
  return functionDeclarations.length > 0 ? [{ functionDeclarations }] : []
}

/** `only` restricts the tools without forcing a call. */
export function toGeminiToolConfig(choice: ToolChoice): GeminiToolConfig {
  if (typeof choice === 'string') return { functionCallingConfig: { mode: FUNCTION_CALLING_MODES[choice] } }
  if ('name' in choice)
    return { functionCallingConfig: { mode: FUNCTION_CALLING_MODES.required, allowedFunctionNames: [choice.name] } }
  return { functionCallingConfig: { mode: FUNCTION_CALLING_MODES.only, allowedFunctionNames: [...choice.only] } }
}

/** The complete call of a part, if it has one. With `tools`, names and arguments are as in the tool definitions. */
export function parseFunctionCall(
  part: unknown,
  createId: (name: string) => string = () => `call_${crypto.randomUUID()}`,
  tools?: { readonly definitions: readonly ToolDefinition[]; readonly dialect?: GeminiDialect },
): ToolCall | undefined {
  const call = isObject(part) ? part['functionCall'] : undefined
  if (!isObject(part) || !isObject(call) || typeof call['name'] !== 'string' || call['name'] === '') return undefined
  // A fragment of a call must not run.
  if (call['willContinue'] === true || Array.isArray(call['partialArgs'])) return undefined
  const { id, args } = call
  const { thoughtSignature: signature } = part
  const declarations = tools && declareTools(tools.definitions.map(toToolSpec), tools.dialect ?? 'gemini')
  const name = declarations?.toToolName(call['name']) ?? call['name']
  const input = declarations && isObject(args) ? declarations.toToolInput(name, args as JsonObject) : args
  return {
    id: createId(name),
    name,
    arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
    ...(typeof id === 'string' && id !== '' && { wireId: id }),
    ...(typeof signature === 'string' && signature !== '' && { thoughtSignature: signature }),
  }
}

/** The result of a call as a part. An error is in `response.error`, anything else in `response.result`. */
export function toGeminiFunctionResponse(result: ToolResult): GeminiPart {
  const id = defined({ id: result.wireId })
  return { functionResponse: { ...id, name: result.name, response: toResponseObject(result.content) } }
}

/** One message with the results of all calls of a turn, in their order. */
export function toGeminiFunctionResponseContent(results: readonly ToolResult[]): GeminiContent {
  return { role: 'user', parts: results.map(toGeminiFunctionResponse) }
}

/** A turn of the model: its text, then its calls. Arguments that cannot be parsed become `{}`. */
export function toModelContentWithFunctions(
  text: string | null | undefined,
  calls: readonly ToolCall[],
): GeminiContent {
  const parts: GeminiPart[] = text ? [{ text }] : []
  for (const call of calls) {
    const parsedArguments = parseCallArguments(call.arguments)
    const args =
      (parsedArguments.ok && parsedArguments.inputs.length === 1 ? parsedArguments.inputs[0] : undefined) ?? {}
    parts.push({
      functionCall: { ...defined({ id: call.wireId }), name: call.name, args },
      ...defined({ thoughtSignature: call.thoughtSignature }),
    })
  }
  // The API does not accept a history with an empty content.
  return { role: 'model', parts: parts.length > 0 ? parts : [{ text: '(no answer)' }] }
}

const FUNCTION_CALLING_MODES = {
  auto: 'AUTO',
  required: 'ANY',
  none: 'NONE',
  only: 'VALIDATED',
} satisfies Record<string, GeminiCallingMode>

function toResponseObject(content: ToolResultContent): Record<string, unknown> {
  switch (content.type) {
    case 'text':
      return { result: content.text }
    case 'json':
      return { result: content.value }
    case 'error':
      return { error: content.message }
    default:
      return content satisfies never
  }
}
