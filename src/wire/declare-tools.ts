import type { Warning } from '../model/event.ts'
import type { Profile, SchemaDialect } from '../model/profile.ts'
import type { ToolSpec } from '../model/request.ts'
import { type ToolDeclarations, declareTools } from '../schema/dialect/declare-tools.ts'

/** The tools as they are declared to an endpoint, and the mapping back. Encoder and decoder must use the same. */
export function declareToolsForProfile(tools: readonly ToolSpec[], profile: Profile): ToolDeclarations {
  return declareTools(tools, chooseDialect(profile))
}

/** Which tools could not be declared, and what was changed in the others. */
export function listDeclarationWarnings(projection: ToolDeclarations): Warning[] {
  return [
    ...projection.skipped.map(({ name, reason }) => ({ code: 'tool-set-aside', message: `${name}: ${reason}` })),
    ...projection.warnings.map((message) => ({ code: 'tool-changed', message })),
  ]
}

/** On OpenAI's wires, tools with constrained calls are declared in the strict dialect (T150). */
function chooseDialect(profile: Profile): SchemaDialect {
  return profile.constrain && profile.dialect === 'openai' ? 'openai-strict' : profile.dialect
}
