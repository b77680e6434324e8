import type { SchemaDialect } from '../../model/profile.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ToolSpec } from '../../model/request.ts'
import { toWellFormed, toWellFormedJson } from '../../model/text.ts'
import { toAnthropicSchema } from './anthropic.ts'
import { dropUnusedDefinitions, type ConvertedSchema } from './converted-schema.ts'
import { toGeminiJsonSchema } from './gemini-json.ts'
import { toGeminiSchema } from './gemini.ts'
import { toGrammarCompatibleSchema } from './grammar.ts'
import { toOpenAiStrictSchema } from './openai-strict.ts'
import { toOpenAiSchema } from './openai.ts'
import { createArgumentMapper, type ArgumentMapper } from './argument-mapper.ts'
import { ANTHROPIC_TOOL_NAME_RULE, GEMINI_TOOL_NAME_RULE, OPENAI_TOOL_NAME_RULE } from './tool-names.ts'
import { toLegalToolNames, toUndeclaredName, type ToolNameRule } from './tool-names.ts'
import { repairSchema } from '../normalize/repair-schema.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'

export interface DeclaredTool {
  /** The name on the wire. */
  name: string
  /** The name by which the tool is registered. */
  originalName: string
  /** Never empty. */
  description: string
  schema: JsonObject
  /** Only with `openai-strict`: whether the vendor may enforce the schema. */
  strict?: boolean
  /** The tool takes free text, on wires that support it. */
  freeform?: boolean
}

/** The tools in one dialect, and the way back to their original names and arguments. */
export interface ToolDeclarations {
  /** In the order given, without the skipped ones. */
  tools: DeclaredTool[]
  skipped: { name: string; reason: string }[]
  /** What was repaired or lost, in sentences. */
  warnings: string[]
  /** Unknown names are returned unchanged. */
  toToolName(wireName: string): string
  /** A name that is not declared becomes a legal one that no declared tool has. */
  toWireName(name: string): string
  /** From the arguments of a model to arguments for the original schema. */
  toToolInput(name: string, args: JsonObject): JsonObject
  /** From stored arguments to those of the converted schema. */
  toWireArguments(name: string, input: JsonObject): JsonObject
}

/** The same array and dialect give the same declarations. */
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

const OPENAI_LIMITS = { nameRule: OPENAI_TOOL_NAME_RULE, maxDescriptionChars: 1024 }

const DIALECT_RULES: Readonly<Record<SchemaDialect, DialectRules>> = {
  'gemini-json': { convert: toGeminiJsonSchema, nameRule: GEMINI_TOOL_NAME_RULE, maxDescriptionChars: Infinity },
  gemini: { convert: toGeminiSchema, nameRule: GEMINI_TOOL_NAME_RULE, maxDescriptionChars: Infinity },
  openai: { convert: toOpenAiSchema, ...OPENAI_LIMITS },
  'openai-strict': { convert: toOpenAiStrictSchema, ...OPENAI_LIMITS },
  anthropic: { convert: toAnthropicSchema, nameRule: ANTHROPIC_TOOL_NAME_RULE, maxDescriptionChars: Infinity },
  grammar: { convert: toGrammarCompatibleSchema, nameRule: OPENAI_TOOL_NAME_RULE, maxDescriptionChars: Infinity },
}

/** A badly broken schema has hundreds of flaws. */
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
  const wireNames = toLegalToolNames([...declared.keys()], rules.nameRule)
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

/** Returns the reason if it fails: no schema may keep the other tools from being declared. */
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
  return more > 0 ? [...shown, `Tool "${tool.name}": ${more} more warnings.`] : shown
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
    warnings.push(`Tool "${tool.name}": The description was truncated to ${rules.maxDescriptionChars} characters.`)
    description = truncateText(description, rules.maxDescriptionChars)
  }
  const { schema, strict } = result
  return { name, originalName: tool.name, description, schema, ...defined({ strict, freeform: tool.freeform }) }
}

/** At the last word that fits, and never inside a surrogate pair. */
function truncateText(text: string, limit: number): string {
  const head = text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')
  const space = head.lastIndexOf(' ')
  return `${space > limit * 0.8 ? head.slice(0, space) : head}…`
}
