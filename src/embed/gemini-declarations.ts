import type { Warning } from '../model/event.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import type { ToolSpec } from '../model/request.ts'
import { declareTools } from '../schema/dialect/declare-tools.ts'
import type { GeminiFunctionDeclaration } from './vendor-types/gemini.ts'

/** `gemini-json`: JSON Schema in `parametersJsonSchema`. `gemini`: Gemini's own schema dialect in `parameters`. */
export type GeminiDialect = 'gemini-json' | 'gemini'

/** A tool that cannot be declared is skipped with a warning. */
export function declareForGemini(
  tools: readonly ToolSpec[],
  dialect: GeminiDialect,
  onWarning?: (warning: Warning) => void,
): GeminiFunctionDeclaration[] {
  const projection = declareTools(tools, dialect)
  for (const message of projection.warnings) onWarning?.({ code: 'schema', message })
  for (const { name, reason } of projection.skipped) {
    onWarning?.({ code: 'tool-set-aside', message: `${name}: ${reason}` })
  }
  return projection.tools.map(({ name, description, schema }) => {
    if (dialect === 'gemini-json') return { name, description, parametersJsonSchema: schema }
    return { name, description, ...(hasProperties(schema) && { parameters: schema }) }
  })
}

/** The older dialect does not allow an object without properties. */
function hasProperties(schema: JsonObject): boolean {
  return isObject(schema['properties']) && Object.keys(schema['properties']).length > 0
}
