import type { Json, JsonObject } from '../../src/model/json.ts'
import type { ToolSpec } from '../../src/model/request.ts'
import { letters, type Random } from './mutate-random.ts'

/** A call that a clean stream makes. */
export interface PlannedCall {
  readonly name: string
  readonly input: JsonObject
  /** The argument text, spelled in one of the many ways in which JSON can be; empty for some calls without arguments. */
  readonly text: string
  readonly id: string
}

/** What a clean stream shall say. */
export interface Plan {
  readonly tools: readonly ToolSpec[]
  /** All tools have the same schema, so that arguments which went to the wrong tool are not noticed by it. */
  readonly alike: boolean
  readonly calls: readonly PlannedCall[]
  readonly thoughts: readonly string[]
  /** Text before, between and after the calls: one more than there are calls, some of it empty. */
  readonly texts: readonly string[]
}

/** Plans an answer: no call up to four, of one up to four tools. */
export function makePlan(random: Random): Plan {
  const alike = random.chance(0.4)
  const tools = makeTools(random, alike)
  const count = random.chance(0.05) ? 0 : random.pick([1, 1, 2, 2, 2, 3, 3, 4])
  const calls: PlannedCall[] = []
  while (calls.length < count) calls.push(makeCall(random, random.pick(tools), calls))
  const texts = Array.from({ length: count + 1 }, () => (random.chance(0.3) ? random.pick(TEXTS) : ''))
  if (count === 0) texts[0] = random.pick(TEXTS)
  const thoughts = random.chance(0.3) ? [random.pick(TEXTS), random.pick(TEXTS)].slice(random.below(2)) : []
  return { tools, alike, calls, thoughts, texts }
}

/** Every tool that takes arguments needs at least one: so its schema refuses a call of which nothing but the name came (T17). */
function makeTools(random: Random, alike: boolean): ToolSpec[] {
  const family = random.pick(FAMILIES)
  const count = random.range(1, 4)
  const keys = random.shuffled(KEYS)
  const shared = makeSchema(random, keys.slice(0, 3))
  return random
    .shuffled(family)
    .slice(0, count)
    .map((name, at) => {
      const own = random.chance(0.15) ? NO_PARAMETERS : makeSchema(random, keys.slice(at * 3, at * 3 + 3))
      return { name, description: `Does ${name}.`, schema: alike ? shared : own }
    })
}

function makeSchema(random: Random, keys: readonly string[]): JsonObject {
  const taken = keys.slice(0, random.range(1, 3))
  const properties = Object.fromEntries(taken.map((key) => [key, random.pick(TYPES)]))
  const required = taken.filter((_key, at) => at === 0 || random.chance(0.3))
  const closed = random.chance(0.3) ? { additionalProperties: false } : {}
  return { type: 'object', properties, required, ...closed }
}

function makeCall(random: Random, tool: ToolSpec, before: readonly PlannedCall[]): PlannedCall {
  const id = makeId(random, tool.name, before)
  // The same call twice is a call twice, as long as its ids tell so.
  const twin = before.find((call) => call.name === tool.name)
  if (twin && random.chance(0.15)) return { ...twin, id }
  const { properties, required } = tool.schema as { properties?: Record<string, JsonObject>; required?: string[] }
  const input: JsonObject = {}
  for (const [key, schema] of random.shuffled(Object.entries(properties ?? {})))
    if (required?.includes(key) || random.chance(0.5)) input[key] = makeValue(random, schema, 0)
  const bare = Object.keys(input).length === 0 && random.chance(0.5)
  const text = bare ? '' : spell(random, input)
  return { name: tool.name, input: bare ? {} : (JSON.parse(text) as JsonObject), text, id }
}

function makeValue(random: Random, schema: JsonObject, depth: number): Json {
  const type = schema['type'] ?? random.pick(depth > 1 ? SCALARS : [...SCALARS, 'array', 'object'])
  if (Array.isArray(schema['enum'])) return random.pick(schema['enum'])
  if (type === 'string') return random.chance(0.4) ? random.pick(ODD_STRINGS) : letters(random, random.below(9))
  if (type === 'integer') return random.pick([0, 1, 12, -3, 4711, 20250101, 9007199254740991])
  if (type === 'number') return random.pick([0, 0.5, -1.25, 3, 1e-7, 6.02e23, 1234567.891])
  if (type === 'boolean') return random.chance(0.5)
  if (type === 'null') return null
  const inner = depth > 2 ? { type: 'string' } : {}
  const length = random.below(4)
  if (type === 'array') return Array.from({ length }, () => makeValue(random, inner, depth + 1))
  const keys = random.shuffled([...KEYS, ...ODD_KEYS]).slice(0, length)
  return Object.fromEntries(keys.map((key) => [key, makeValue(random, inner, depth + 1)]))
}

/** Writes JSON as models do: tight, with spaces, in lines, with escapes that need not be. */
function spell(random: Random, value: JsonObject): string {
  const text = JSON.stringify(value, undefined, random.pick([0, 0, 0, 1, 2]))
  const escaped = random.chance(0.2) ? text.replace(/[^\x20-\x7e\n]/g, escape) : text
  return random.chance(0.1) ? ` ${escaped}\n` : escaped
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function makeId(random: Random, name: string, before: readonly PlannedCall[]): string {
  const count = before.length
  const id = random.pick([
    () => `call_${letters(random, 24)}`,
    () => `toolu_01${letters(random, 22)}`,
    () => `chatcmpl-tool-${letters(random, 16)}`,
    () => letters(random, 9),
    () => `functions.${name}:${count}`,
    () => `${name}_${count}`,
    () => `call_${count}`,
    () => String(count + 1),
    () => letters(random, 60),
  ])()
  return before.some((call) => call.id === id) ? `${id}.${count}` : id
}

/** Names that begin with each other: only the declared ones tell a piece of a name from a name (T13). */
const FAMILIES = [
  ['read', 'read_file', 'read_file_lines', 'readFile'],
  ['list', 'list_directory', 'write', 'write_file'],
  ['edit', 'edit_existing_file', 'search', 'search_file_content'],
  ['mcp__fs__read', 'mcp__fs__read_many', 'get_weather', 'get'],
  ['bash', 'glob', 'web_fetch', 'save_memory'],
]

const KEYS = [
  'path',
  'command',
  'query',
  'limit',
  'content',
  'old_string',
  'replace',
  'depth',
  'tags',
  'all',
  'name',
  'x',
]
const ODD_KEYS = ['', 'a b', '$ref', '"', '{', 'é', '__proto__', 'constructor']
const SCALARS = ['string', 'integer', 'number', 'boolean', 'null']

const TYPES: readonly JsonObject[] = [
  { type: 'string' },
  { type: 'string' },
  { type: 'integer' },
  { type: 'number' },
  { type: 'boolean' },
  { type: 'string', enum: ['one', 'two', 'three'] },
  { type: 'array' },
  { type: 'object' },
  {},
]

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} }

const ODD_STRINGS = [
  '',
  '}',
  '{"path":"a"}',
  '"}',
  'a "quoted" word',
  'C:\\Users\\new',
  '\\"}]',
  'if (a) { b() } // {',
  'line one\nline two\r\n\ttabbed',
  'größer ∀ 你好',
  '👩‍🚀 and 🚀',
  '\u2028\u0000\u001f',
  'data: {"x":1}\n\n',
  '[DONE]',
  '</parameter>',
]

const TEXTS = [
  'I will look.',
  ' Then "that" {one}.',
  'größer 🚀',
  '\n\n- a\n- b\n',
  'x',
  'data: [DONE]',
  '```ts\nconst a = {}\n```',
]
