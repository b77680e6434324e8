import type { JsonObject } from '../../model/json.ts'
import type { ToolSpec } from '../../model/request.ts'

/** A tool of the host. `parameters` is a JSON Schema. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

export function toToolSpec({ name, description, parameters }: ToolDefinition): ToolSpec {
  return { name, description, schema: parameters as JsonObject }
}
