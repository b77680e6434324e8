import type { SchemaDialect } from '../../model/profile.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ToolGrammar, ToolNamespace, ToolSpec } from '../../model/request.ts'
import type { NativeData } from '../../model/turn.ts'
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
import { isSound } from '../normalize/sound-schemas.ts'
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
  grammar?: ToolGrammar
  /** The group of the tool, and its name in it, on wires that have groups. */
  namespace?: Required<Pick<ToolNamespace, 'name' | 'tool'>> & Pick<ToolNamespace, 'description'>
  deferred?: boolean
  native?: NativeData
}

/** The tools in one dialect, and the way back to their original names and arguments. */
export interface ToolDeclarations {
  /** In the order given, without the skipped ones. */
  tools: readonly DeclaredTool[]
  /** Also a tool that is not in the list, because it is declared elsewhere. */
  findTool(name: string): DeclaredTool | undefined
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
}

const DIALECT_RULES: Readonly<Record<SchemaDialect, DialectRules>> = {
  'gemini-json': { convert: toGeminiJsonSchema, nameRule: GEMINI_TOOL_NAME_RULE },
  gemini: { convert: toGeminiSchema, nameRule: GEMINI_TOOL_NAME_RULE },
  openai: { convert: toOpenAiSchema, nameRule: OPENAI_TOOL_NAME_RULE },
  'openai-strict': { convert: toOpenAiStrictSchema, nameRule: OPENAI_TOOL_NAME_RULE },
  anthropic: { convert: toAnthropicSchema, nameRule: ANTHROPIC_TOOL_NAME_RULE },
  grammar: { convert: toGrammarCompatibleSchema, nameRule: OPENAI_TOOL_NAME_RULE },
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
  const namespaces = declareNamespaces(
    [...declared.values()].map(({ tool }) => tool),
    rules.nameRule,
  )
  const mappers = new Map<string, ArgumentMapper>()
  const byName = new Map<string, DeclaredTool>()
  for (const { tool, result } of declared.values()) {
    if (result.mapping !== undefined) mappers.set(tool.name, createArgumentMapper(result.schema, result.mapping))
    warnings.push(...formatToolWarnings(tool, result.warnings))
    const namespace = namespaces.get(tool)
    byName.set(tool.name, {
      ...createDeclaredTool(tool, result, wireNames.get(tool.name) ?? tool.name),
      ...defined({ namespace }),
    })
  }
  return {
    tools: [...byName.values()],
    findTool: (name) => byName.get(name),
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
    const schema = toWellFormedJson(tool.schema)
    if (isSound(schema)) return rules.convert(schema)
    const repaired = repairSchema(schema)
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

function createDeclaredTool(tool: ToolSpec, { schema, strict }: ConvertedSchema, name: string): DeclaredTool {
  const text = typeof tool.description === 'string' ? tool.description.trim() : ''
  const description = toWellFormed(text === '' ? `The tool "${tool.name}".` : tool.description)
  const { freeform, grammar, deferred, native } = tool
  return {
    name,
    originalName: tool.name,
    description,
    schema,
    ...defined({ strict, freeform, grammar, deferred, native }),
  }
}

/** The groups of tools with legal names, and the legal name of each tool in its group. */
function declareNamespaces(
  tools: readonly ToolSpec[],
  rule: ToolNameRule,
): Map<ToolSpec, NonNullable<DeclaredTool['namespace']>> {
  const members = new Map<string, Map<string, ToolSpec>>()
  for (const tool of tools) {
    if (!tool.namespace) continue
    const group = members.get(tool.namespace.name) ?? new Map<string, ToolSpec>()
    members.set(tool.namespace.name, group.set(getNameInNamespace(tool), tool))
  }
  const legalNames = toLegalToolNames([...members.keys()], rule)
  const out = new Map<ToolSpec, NonNullable<DeclaredTool['namespace']>>()
  for (const [group, byName] of members) {
    const toolNames = toLegalToolNames([...byName.keys()], rule)
    for (const [name, tool] of byName)
      out.set(tool, {
        name: legalNames.get(group) ?? group,
        tool: toolNames.get(name) ?? name,
        ...defined({ description: tool.namespace?.description }),
      })
  }
  return out
}

/** The name of a tool in its group, or its whole name. */
export function getNameInNamespace({ name, namespace }: Pick<ToolSpec, 'name' | 'namespace'>): string {
  const prefix = namespace ? `${namespace.name}${NAMESPACE_SEPARATOR}` : ''
  return namespace?.tool ?? (name.startsWith(prefix) ? name.slice(prefix.length) : name)
}

/** Between the names of a group and a tool: legal on every wire, and the convention for MCP tools. */
export const NAMESPACE_SEPARATOR = '__'
