import type { JsonObject } from '../model/json.ts'
import type { ToolSpec } from '../model/request.ts'
import { wellFormed, wellFormedJson } from '../model/text.ts'
import { toAnthropic } from './dialect/anthropic.ts'
import { withoutUnused, type Declared } from './dialect/declared.ts'
import { toGeminiJson } from './dialect/gemini-json.ts'
import { toGemini } from './dialect/gemini.ts'
import { toGrammar } from './dialect/grammar.ts'
import { toOpenAiStrict } from './dialect/openai-strict.ts'
import { toOpenAi } from './dialect/openai.ts'
import { makeLens, type Lens } from './lens.ts'
import { ANTHROPIC_NAMES, GEMINI_NAMES, OPENAI_NAMES, projectNames, undeclaredName, type NameRule } from './names.ts'
import { repairSchema } from './repair.ts'

/** The schema languages that vendors accept for tool parameters. */
export type Dialect = 'gemini-json' | 'gemini' | 'openai' | 'openai-strict' | 'anthropic' | 'grammar'

/** A tool as one dialect declares it. */
export interface ProjectedTool {
  /** The name on the wire. */
  name: string
  /** The name by which the tool is registered. */
  original: string
  /** Never empty. */
  description: string
  schema: JsonObject
  /** Set by `openai-strict` only: whether the vendor may hold the model to the schema. */
  strict?: boolean
  /** The tool takes free text, on wires that have such a thing. */
  freeform?: boolean
}

/** A tool list as one dialect declares it, with the way back. */
export interface Projection {
  /** In the order given; tools that cannot be declared are left out. */
  tools: ProjectedTool[]
  /** The tools left out, each with its reason. */
  setAside: { name: string; reason: string }[]
  /** What was repaired or lost, in sentences. */
  warnings: string[]
  /** Wire name to original name; unknown names come back unchanged. */
  toolName(wireName: string): string
  /** Original name to wire name; a name that is not declared is made legal and never meets a declared one. */
  wireName(name: string): string
  /** Arguments as the model sent them under the projected schema, to arguments for the original schema. */
  toInput(name: string, args: JsonObject): JsonObject
  /** Arguments of a stored call, as the projected schema spells them. */
  toWire(name: string, input: JsonObject): JsonObject
}

/** Declares a tool list in a dialect. The same array and dialect give the same projection. */
export function project(tools: readonly ToolSpec[], dialect: Dialect): Projection {
  let known = cache.get(tools)
  if (known === undefined) cache.set(tools, (known = new Map()))
  let projection = known.get(dialect)
  if (projection === undefined) known.set(dialect, (projection = make(tools, DIALECTS[dialect])))
  return projection
}

const cache = new WeakMap<readonly ToolSpec[], Map<Dialect, Projection>>()

interface Rules {
  readonly declare: (schema: JsonObject) => Declared
  readonly names: NameRule
  /** The longest description that every service of this dialect accepts. */
  readonly description: number
}

const OPENAI = { names: OPENAI_NAMES, description: 1024 }

const DIALECTS: Readonly<Record<Dialect, Rules>> = {
  'gemini-json': { declare: toGeminiJson, names: GEMINI_NAMES, description: Infinity },
  gemini: { declare: toGemini, names: GEMINI_NAMES, description: Infinity },
  openai: { declare: toOpenAi, ...OPENAI },
  'openai-strict': { declare: toOpenAiStrict, ...OPENAI },
  anthropic: { declare: toAnthropic, names: ANTHROPIC_NAMES, description: Infinity },
  grammar: { declare: toGrammar, names: OPENAI_NAMES, description: Infinity },
}

/** A badly broken schema has hundreds of flaws; a person wants to hear of a few. */
const MAX_WARNINGS = 4

function make(tools: readonly ToolSpec[], rules: Rules): Projection {
  const setAside: { name: string; reason: string }[] = []
  const warnings: string[] = []
  const declared = new Map<string, { tool: ToolSpec; result: Declared }>()
  for (const tool of tools) {
    const result = declared.has(tool.name) ? 'another tool has the same name' : declare(tool, rules)
    if (typeof result === 'string') setAside.push({ name: tool.name, reason: result })
    else declared.set(tool.name, { tool, result })
  }
  const wire = projectNames([...declared.keys()], rules.names)
  const back = new Map([...wire].map(([name, legal]) => [legal, name]))
  const taken = new Set(back.keys())
  const lenses = new Map<string, Lens>()
  const list = [...declared.values()].map(({ tool, result }) => {
    if (result.notes !== undefined) lenses.set(tool.name, makeLens(result.schema, result.notes))
    warnings.push(...tell(tool, result.warnings))
    return declaration(tool, result, wire.get(tool.name) ?? tool.name, rules, warnings)
  })
  return {
    tools: list,
    setAside,
    warnings,
    toolName: (legal) => back.get(legal) ?? legal,
    wireName: (name) => wire.get(name) ?? undeclaredName(name, rules.names, taken),
    toInput: (name, args) => lenses.get(name)?.toInput(args) ?? args,
    toWire: (name, input) => lenses.get(name)?.toWire(input) ?? input,
  }
}

/** Declares one tool, or says why not: whatever one tool's schema does to us, the others are declared. */
function declare(tool: ToolSpec, rules: Rules): Declared | string {
  try {
    const repaired = repairSchema(wellFormedJson(tool.schema))
    if ('unusable' in repaired) return repaired.unusable
    const result = rules.declare(withoutUnused(repaired.schema))
    return repaired.repairs.length === 0 ? result : { ...result, warnings: [...repaired.repairs, ...result.warnings] }
  } catch (error) {
    return `its schema cannot be declared: ${error instanceof Error ? error.message : String(error)}`
  }
}

function tell(tool: ToolSpec, sentences: readonly string[]): string[] {
  const shown = sentences.slice(0, MAX_WARNINGS).map((sentence) => `Tool "${tool.name}": ${sentence}`)
  const more = sentences.length - shown.length
  return more > 0 ? [...shown, `Tool "${tool.name}": ${more} more remarks of this kind.`] : shown
}

function declaration(tool: ToolSpec, result: Declared, name: string, rules: Rules, warnings: string[]): ProjectedTool {
  const text = typeof tool.description === 'string' ? tool.description.trim() : ''
  let description = wellFormed(text === '' ? `The tool "${tool.name}".` : tool.description)
  if (description.length > rules.description) {
    warnings.push(`Tool "${tool.name}": The description was cut to ${rules.description} characters.`)
    description = cutText(description, rules.description)
  }
  const out: ProjectedTool = { name, original: tool.name, description, schema: result.schema }
  if (result.strict !== undefined) out.strict = result.strict
  if (tool.freeform !== undefined) out.freeform = tool.freeform
  return out
}

/** Cuts at the last word that fits, and never through a surrogate pair. */
function cutText(text: string, limit: number): string {
  const head = text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')
  const space = head.lastIndexOf(' ')
  return `${space > limit * 0.8 ? head.slice(0, space) : head}…`
}
