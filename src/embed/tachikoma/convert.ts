import type {
  Content,
  FunctionCallingConfig,
  FunctionCallingConfigMode,
  FunctionDeclaration,
  Part,
  Tool,
} from '@google/genai'
import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import type { ToolSpec } from '../../model/request.ts'
import { declareTools } from '../../schema/dialect/declare-tools.ts'
import { parseArguments } from '../../wire/calls/parse-arguments.ts'
import { declareForGemini, type GeminiDialect } from '../gemini-declarations.ts'
import type { ToolCall, ToolChoice, ToolDefinition, ToolResult, ToolResultContent } from './types.ts'
import { defined } from '../../model/defined.ts'

/** How tools are declared. */
export interface DeclareOptions {
  /** `gemini` writes `parameters` in Gemini's own schema language; `gemini-json` writes `parametersJsonSchema`. */
  readonly dialect?: GeminiDialect
  readonly onWarning?: (warning: Warning) => void
}

/** Declares one tool; throws where its schema cannot be declared at all, which only its author can mend. */
export function toGeminiFunction(tool: ToolDefinition, options: DeclareOptions = {}): FunctionDeclaration {
  let problem = ''
  const warn = (warning: Warning) => {
    problem = warning.message
    options.onWarning?.(warning)
  }
  const [declaration] = declareForGemini([toToolSpec(tool)], options.dialect ?? 'gemini', warn)
  if (!declaration) throw new TypeError(`The tool cannot be declared: ${problem}`)
  return declaration
}

/** Declares tools, all in the one tool object that a request carries. One that cannot be declared is left out alone. */
export function toGeminiTools(tools: readonly ToolDefinition[], options: DeclareOptions = {}): Tool[] {
  const functionDeclarations = declareForGemini(tools.map(toToolSpec), options.dialect ?? 'gemini', options.onWarning)
  return functionDeclarations.length > 0 ? [{ functionDeclarations }] : []
}

/** Says whether the model may, must or must not call; `only` narrows the choice without forcing a call. */
export function toGeminiToolConfig(choice: ToolChoice): { functionCallingConfig: FunctionCallingConfig } {
  if (typeof choice === 'string') return { functionCallingConfig: { mode: FUNCTION_CALLING_MODES[choice] } }
  if ('name' in choice)
    return { functionCallingConfig: { mode: FUNCTION_CALLING_MODES.required, allowedFunctionNames: [choice.name] } }
  return { functionCallingConfig: { mode: FUNCTION_CALLING_MODES.only, allowedFunctionNames: [...choice.only] } }
}

/**
 * Reads the call of a part, if it holds one that is whole. Absent arguments are none. With the tools that were
 * declared, names and arguments come back as the tools' author spelt them.
 */
export function parseFunctionCall(
  part: unknown,
  createId: (name: string) => string = () => `call_${crypto.randomUUID()}`,
  tools?: { readonly definitions: readonly ToolDefinition[]; readonly dialect?: GeminiDialect },
): ToolCall | undefined {
  const call = isObject(part) ? part['functionCall'] : undefined
  if (!isObject(part) || !isObject(call) || typeof call['name'] !== 'string' || call['name'] === '') return undefined
  // A piece of a call is no call.
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

/** Writes the answer to a call as a part. */
export function toGeminiFunctionResponse(result: ToolResult): Part {
  const id = result.wireId === undefined ? {} : { id: result.wireId }
  return { functionResponse: { ...id, name: result.name, response: toResponseObject(result.content) } }
}

/** Writes the answers to the calls of one turn as one message, in their order. */
export function toGeminiFunctionResponseContent(results: readonly ToolResult[]): Content {
  return { role: 'user', parts: results.map(toGeminiFunctionResponse) }
}

/** Writes a turn of the model: what it said, then what it called. Arguments that cannot be read become none. */
export function toModelContentWithFunctions(text: string | null | undefined, calls: readonly ToolCall[]): Content {
  const parts: Part[] = text ? [{ text }] : []
  for (const call of calls) {
    const parsedArguments = parseArguments(call.arguments)
    const args =
      (parsedArguments.ok && parsedArguments.inputs.length === 1 ? parsedArguments.inputs[0] : undefined) ?? {}
    parts.push({
      functionCall: { ...defined({ id: call.wireId }), name: call.name, args },
      ...defined({ thoughtSignature: call.thoughtSignature }),
    })
  }
  // A content without parts is refused, for ever after.
  return { role: 'model', parts: parts.length > 0 ? parts : [{ text: '(no answer)' }] }
}

/** Gemini's words. The enum's values are these strings; importing it would load the whole SDK. */
const FUNCTION_CALLING_MODES = {
  auto: 'AUTO' as FunctionCallingConfigMode,
  required: 'ANY' as FunctionCallingConfigMode,
  none: 'NONE' as FunctionCallingConfigMode,
  only: 'VALIDATED' as FunctionCallingConfigMode,
}

function toResponseObject(content: ToolResultContent): Record<string, unknown> {
  if (content.type === 'text') return { result: content.text }
  return content.type === 'json' ? { result: content.value } : { error: content.message }
}

/** A definition in our own words. */
export function toToolSpec({ name, description, parameters }: ToolDefinition): ToolSpec {
  return { name, description, schema: parameters as JsonObject }
}
