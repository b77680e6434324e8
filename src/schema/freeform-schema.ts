import type { JsonObject } from '../model/json.ts'
import type { ToolGrammar } from '../model/request.ts'
import { tryOrUndefined } from '../model/try-or-undefined.ts'

/** The arguments of a tool that takes free text, for wires that have only JSON: one string, which must match the grammar. */
export function createFreeformSchema(grammar?: ToolGrammar): JsonObject {
  const input: JsonObject = { type: 'string', ...(grammar && describeGrammar(grammar)) }
  return { type: 'object', properties: { input }, required: ['input'], additionalProperties: false }
}

function describeGrammar({ syntax, definition }: ToolGrammar): JsonObject {
  const label = syntax === 'regex' ? 'regular expression' : 'Lark grammar'
  const description = `The whole text must match this ${label}:\n${definition}`
  const pattern = `^(?:${definition})$`
  // Expressions of other dialects are only described.
  const isValid = syntax === 'regex' && tryOrUndefined(() => new RegExp(pattern, 'u')) !== undefined
  return { description, ...(isValid && { pattern }) }
}
