import type { JsonObject } from '../model/json.ts'
import type { Effect } from '../policy/effect.ts'
import type { Tool, ToolContext, ToolOutput } from './tool.ts'
import { isStandardSchema, toJsonSchema, parseWithSchema, type StandardSchema } from './standard-schema.ts'

export interface ToolDefinition<Input> {
  readonly name: string
  readonly description: string
  /** JSON Schema, or a schema of any library that follows the Standard Schema. */
  readonly parameters: JsonObject | StandardSchema<Input>
  /** What a call would do. Without it, every call needs approval and runs alone. */
  readonly effects?: (input: Input) => readonly Effect[]
  /** Milliseconds; 30 seconds without it. */
  readonly timeout?: number
  /** Gives text, any JSON value, or a whole output. A thrown error becomes an error result. */
  readonly run: (input: Input, context: ToolContext) => unknown
}

const DEFAULT_TIMEOUT_MS = 30_000

export function tool<Input = JsonObject>(definition: ToolDefinition<Input>): Tool {
  const { name, description, parameters, timeout = DEFAULT_TIMEOUT_MS } = definition
  const parse = (input: JsonObject): Promise<Input> =>
    isStandardSchema(parameters) ? parseWithSchema(parameters, input) : Promise.resolve(input as Input)
  return {
    spec: { name, description, schema: toJsonSchema(parameters) },
    kind: 'other',
    origin: 'custom',
    timeout,
    effects: (input) => definition.effects?.(input as Input) ?? [{ kind: 'unknown' }],
    run: async (input, context) => toToolOutput(await definition.run(await parse(input), context)),
  }
}

function toToolOutput(value: unknown): ToolOutput {
  if (typeof value === 'string') return { content: value }
  if (isToolOutput(value)) return value
  return { content: value === undefined ? '' : JSON.stringify(value) }
}

function isToolOutput(value: unknown): value is ToolOutput {
  if (typeof value !== 'object' || value === null || !('content' in value)) return false
  return typeof value.content === 'string' || Array.isArray(value.content)
}
