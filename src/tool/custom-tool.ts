import { defined } from '../model/defined.ts'
import type { JsonObject } from '../model/json.ts'
import type { Effect } from '../policy/effect.ts'
import type { InferSchema, Schema } from './infer-schema.ts'
import { serializeValue } from './serialize-value.ts'
import { isStandardSchema, parseWithSchema, toJsonSchema, tryParseSync } from './standard-schema.ts'
import type { Tool, ToolContext, ToolOutput } from './tool.ts'

/** A tool of your own. The type of `input` is inferred from `parameters`. */
export interface ToolDefinition<Parameters extends Schema = Schema> {
  readonly name: string
  readonly description: string
  /** JSON Schema, or a schema of any library that follows Standard Schema (Zod, Valibot, ArkType). */
  readonly parameters: Parameters
  /** In milliseconds; the default is 30 seconds. */
  readonly timeout?: number
  /**
   * To run a call twice does the same as once, so it runs again if the process was killed meanwhile. Without it, no call ever
   * runs twice: the model is told that it was interrupted.
   */
  readonly safeToRetry?: boolean
  /** What a call would do, so that the policy can decide. Without it, every call needs approval and runs alone. */
  effects?(input: InferSchema<Parameters>): readonly Effect[]
  /**
   * Executes a call. The model gets a string as it is, and any other value as JSON; `toolOutput` makes a result with media,
   * something else to show to the user, or an error. A thrown error becomes an error result.
   */
  execute(input: InferSchema<Parameters>, context: ToolContext): unknown
}

const DEFAULT_TIMEOUT_MS = 30_000

/** Defines a tool. */
export function tool<const Parameters extends Schema>(definition: ToolDefinition<Parameters>): Tool {
  const { name, description, parameters, safeToRetry, timeout = DEFAULT_TIMEOUT_MS } = definition
  type Input = InferSchema<Parameters>
  const parse = async (input: JsonObject): Promise<Input> =>
    (isStandardSchema(parameters) ? await parseWithSchema(parameters, input) : input) as Input
  return {
    spec: { name, description, schema: toJsonSchema(parameters) },
    kind: 'other',
    origin: 'custom',
    timeout,
    ...defined({ safeToRetry }),
    check(input) {
      const parsed = isStandardSchema(parameters) ? tryParseSync(parameters, input) : undefined
      return parsed && 'problem' in parsed ? `The arguments of ${name} are not valid: ${parsed.problem}` : undefined
    },
    effects(input) {
      const parsed = isStandardSchema(parameters) ? tryParseSync(parameters, input) : { value: input }
      if (!definition.effects || !parsed || 'problem' in parsed) return [{ kind: 'unknown' }]
      return definition.effects(parsed.value as Input)
    },
    run: async (input, context) => toToolOutput(await definition.execute(await parse(input), context)),
  }
}

/** What `execute` of a tool returns if it is more than text or JSON. */
export interface ToolOutputOptions extends Pick<ToolOutput, 'content' | 'display' | 'data' | 'error'> {}

/** Makes the result of a tool: text and media for the model, what the user sees instead, or an error. */
export function toolOutput(options: ToolOutputOptions): ToolOutput {
  const output: ToolOutput = { ...options }
  richOutputs.add(output)
  return output
}

/** Only these are taken apart; any other object with a `content` is a plain value. */
const richOutputs = new WeakSet<object>()

function toToolOutput(value: unknown): ToolOutput {
  if (typeof value === 'object' && value !== null && richOutputs.has(value)) return value as ToolOutput
  return { content: typeof value === 'string' ? value : serializeValue(value) }
}
