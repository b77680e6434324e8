import type { Warning } from '../model/event.ts'
import type { Profile, SchemaDialect } from '../model/profile.ts'
import type { ToolSpec } from '../model/request.ts'
import { type ToolDeclarations, declareTools } from '../schema/dialect/declare-tools.ts'

/** The tools as an endpoint is told of them, and the way back. Encoding and decoding must agree on it, so both ask here. */
export function declareToolsFor(tools: readonly ToolSpec[], profile: Profile): ToolDeclarations {
  return declareTools(tools, chooseDialect(profile))
}

/** What became of the tools on the way: which could not be declared, and what had to be changed in the others. */
export function listDeclarationWarnings(projection: ToolDeclarations): Warning[] {
  return [
    ...projection.skipped.map(({ name, reason }) => ({ code: 'tool-set-aside', message: `${name}: ${reason}` })),
    ...projection.warnings.map((message) => ({ code: 'tool-changed', message })),
  ]
}

/** Where calls are to be constrained, OpenAI's wires declare the tools in their strict dialect (T150). */
function chooseDialect(profile: Profile): SchemaDialect {
  return profile.constrain && profile.dialect === 'openai' ? 'openai-strict' : profile.dialect
}
