import type { JsonObject } from '../../model/json.ts'
import type { ToolSpec } from '../../model/request.ts'
import { toWellFormed, toWellFormedJson } from '../../model/text.ts'
import { toAnthropicSchema } from './anthropic.ts'
import { dropUnusedDefinitions, type ConvertedSchema } from './converted-schema.ts'
import { toGeminiJsonSchema } from './gemini-json.ts'
import { toGeminiSchema } from './gemini.ts'
import { toGrammarSchema } from './grammar.ts'
import { toOpenAiStrictSchema } from './openai-strict.ts'
import { toOpenAiSchema } from './openai.ts'
import { createArgumentMapper, type ArgumentMapper } from './argument-mapper.ts'
import {
  ANTHROPIC_NAME_RULE,
  GEMINI_NAME_RULE,
  OPENAI_NAME_RULE,
  toLegalNames,
  toUndeclaredName,
  type ToolNameRule,
} from './tool-names.ts'
import { repairSchema } from '../normalize/repair-schema.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/** The schema languages that vendors accept for tool parameters. */
export type SchemaDialect = 'gemini-json' | 'gemini' | 'openai' | 'openai-strict' | 'anthropic' | 'grammar'

/** A tool as one dialect declares it. */
export interface DeclaredTool {
  /** The name on the wire. */
  name: string
  /** The name by which the tool is registered. */
  originalName: string
  /** Never empty. */
  description: string
  schema: JsonObject
  /** Set by `openai-strict` only: whether the vendor may hold the model to the schema. */
  strict?: boolean
  /** The tool takes free text, on wires that have such a thing. */
  freeform?: boolean
}

/** A tool list as one dialect declares it, with the way back. */
export interface ToolDeclarations {
  /** In the order given; tools that cannot be declared are left out. */
  tools: DeclaredTool[]
  /** The tools left out, each with its reason. */
  skipped: { name: string; reason: string }[]
  /** What was repaired or lost, in sentences. */
  warnings: string[]
  /** Wire name to original name; unknown names come back unchanged. */
  toToolName(wireName: string): string
  /** Original name to wire name; a name that is not declared is made legal and never meets a declared one. */
  toWireName(name: string): string
  /** Arguments as the model sent them under the projected schema, to arguments for the original schema. */
  toToolInput(name: string, args: JsonObject): JsonObject
  /** Arguments of a stored call, as the projected schema spells them. */
  toWireArguments(name: string, input: JsonObject): JsonObject
}

/** Declares a tool list in a dialect. The same array and dialect give the same projection. */
export function declareTools(tools: readonly ToolSpec[], dialect: SchemaDialect): ToolDeclarations {
  let byDialect = declarationCache.get(tools)
  if (byDialect === undefined) declarationCache.set(tools, (byDialect = new Map()))
  let declarations = byDialect.get(dialect)
  if (declarations === undefined)
    byDialect.set(dialect, (declarations = createDeclarations(tools, DIALECT_RULES[dialect])))
  return declarations
}

const declarationCache = new WeakMap<readonly ToolSpec[], Map<SchemaDialect, ToolDeclarations>>()

interface DialectRules {
  readonly convert: (schema: JsonObject) => ConvertedSchema
  readonly nameRule: ToolNameRule
  /** The longest description that every service of this dialect accepts. */
  readonly maxDescriptionChars: number
}

const OPENAI_LIMITS = { nameRule: OPENAI_NAME_RULE, maxDescriptionChars: 1024 }

const DIALECT_RULES: Readonly<Record<SchemaDialect, DialectRules>> = {
  'gemini-json': { convert: toGeminiJsonSchema, nameRule: GEMINI_NAME_RULE, maxDescriptionChars: Infinity },
  gemini: { convert: toGeminiSchema, nameRule: GEMINI_NAME_RULE, maxDescriptionChars: Infinity },
  openai: { convert: toOpenAiSchema, ...OPENAI_LIMITS },
  'openai-strict': { convert: toOpenAiStrictSchema, ...OPENAI_LIMITS },
  anthropic: { convert: toAnthropicSchema, nameRule: ANTHROPIC_NAME_RULE, maxDescriptionChars: Infinity },
  grammar: { convert: toGrammarSchema, nameRule: OPENAI_NAME_RULE, maxDescriptionChars: Infinity },
}

/** A badly broken schema has hundreds of flaws; a person wants to hear of a few. */
const MAX_WARNINGS_PER_TOOL = 4

function createDeclarations(tools: readonly ToolSpec[], rules: DialectRules): ToolDeclarations {
  const skipped: { name: string; reason: string }[] = []
  const warnings: string[] = []
  const declared = new Map<string, { tool: ToolSpec; result: ConvertedSchema }>()
  for (const tool of tools) {
    const result = declared.has(tool.name) ? 'another tool has the same name' : convertToolSchema(tool, rules)
    if (typeof result === 'string') skipped.push({ name: tool.name, reason: result })
    else declared.set(tool.name, { tool, result })
  }
  const wireNames = toLegalNames([...declared.keys()], rules.nameRule)
  const originalNames = new Map([...wireNames].map(([name, legal]) => [legal, name]))
  const taken = new Set(originalNames.keys())
  const mappers = new Map<string, ArgumentMapper>()
  const list = [...declared.values()].map(({ tool, result }) => {
    if (result.mapping !== undefined) mappers.set(tool.name, createArgumentMapper(result.schema, result.mapping))
    warnings.push(...formatToolWarnings(tool, result.warnings))
    return createDeclaredTool(tool, result, wireNames.get(tool.name) ?? tool.name, rules, warnings)
  })
  return {
    tools: list,
    skipped,
    warnings,
    toToolName: (legal) => originalNames.get(legal) ?? legal,
    toWireName: (name) => wireNames.get(name) ?? toUndeclaredName(name, rules.nameRule, taken),
    toToolInput: (name, args) => mappers.get(name)?.toInput(args) ?? args,
    toWireArguments: (name, input) => mappers.get(name)?.toWire(input) ?? input,
  }
}

/** Declares one tool, or says why not: whatever one tool's schema does to us, the others are declared. */
function convertToolSchema(tool: ToolSpec, rules: DialectRules): ConvertedSchema | string {
  try {
    const repaired = repairSchema(toWellFormedJson(tool.schema))
    if ('unusable' in repaired) return repaired.unusable
    const result = rules.convert(dropUnusedDefinitions(repaired.schema))
    return repaired.repairs.length === 0 ? result : { ...result, warnings: [...repaired.repairs, ...result.warnings] }
  } catch (error) {
    return `its schema cannot be declared: ${getErrorMessage(error)}`
  }
}

function formatToolWarnings(tool: ToolSpec, messages: readonly string[]): string[] {
  const shown = messages.slice(0, MAX_WARNINGS_PER_TOOL).map((message) => `Tool "${tool.name}": ${message}`)
  const more = messages.length - shown.length
  return more > 0 ? [...shown, `Tool "${tool.name}": ${more} more remarks of this kind.`] : shown
}

function createDeclaredTool(
  tool: ToolSpec,
  result: ConvertedSchema,
  name: string,
  rules: DialectRules,
  warnings: string[],
): DeclaredTool {
  const text = typeof tool.description === 'string' ? tool.description.trim() : ''
  let description = toWellFormed(text === '' ? `The tool "${tool.name}".` : tool.description)
  if (description.length > rules.maxDescriptionChars) {
    warnings.push(`Tool "${tool.name}": The description was cut to ${rules.maxDescriptionChars} characters.`)
    description = truncateText(description, rules.maxDescriptionChars)
  }
  const out: DeclaredTool = { name, originalName: tool.name, description, schema: result.schema }
  if (result.strict !== undefined) out.strict = result.strict
  if (tool.freeform !== undefined) out.freeform = tool.freeform
  return out
}

/** Cuts at the last word that fits, and never through a surrogate pair. */
function truncateText(text: string, limit: number): string {
  const head = text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')
  const space = head.lastIndexOf(' ')
  return `${space > limit * 0.8 ? head.slice(0, space) : head}…`
}
