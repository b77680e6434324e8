import { isObject, type Json, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import { base62Hash } from '../../schema/hash.ts'

/** The hashes of a request's parts, which show later where two requests differ, and why a cache missed. */
export interface PrefixHashes {
  /** Everything except tools, system prompt and history. */
  readonly settings: string
  readonly tools: string
  readonly system: string
  /** One for each message: a letter for its role, and the hash of the history up to and including it. */
  readonly history: HashList
}

/** A list that does not change, though the array behind it may grow. */
interface HashList {
  readonly length: number
  at(index: number): string | undefined
}

/** The hashes of a history, and the system prompt if it is a message of the history. */
export interface HashedHistory {
  readonly systemText: string
  readonly history: HashList
}

/** Hashes only what changed, and only when it is read, so that no request waits for its hashes. */
export function createPrefixHasher(): (frame: JsonObject, getHashedHistory: () => HashedHistory) => PrefixHashes {
  const [settings, system] = [createCachedHash(), createCachedHash()]
  let lastTools = { tools: undefined as Json | undefined, hash: '' }
  return (frame, getHashedHistory) => {
    const rest = flattenEnvelope(frame)
    return {
      get settings() {
        const others = Object.entries(omitComparedResponse(rest)).filter(
          ([key]) => key !== 'tools' && !SYSTEM_FIELDS.includes(key) && !REQUEST_ID_FIELDS.includes(key),
        )
        return settings(JSON.stringify(others))
      },
      get tools() {
        const { tools = null } = rest
        if (tools !== lastTools.tools) lastTools = { tools, hash: base62Hash(JSON.stringify(tools), HASH_CHARS) }
        return lastTools.hash
      },
      get system() {
        const before = SYSTEM_FIELDS.flatMap((key) => (rest[key] === undefined ? [] : [JSON.stringify(rest[key])]))
        return system([getHashedHistory().systemText, ...before].join('\n'))
      },
      get history() {
        return getHashedHistory().history
      },
    }
  }
}

/** Is this message the system prompt, on wires that send it as a message? */
export function isSystemMessage(item: Json | undefined): boolean {
  return isObject(item) && (item['role'] === 'system' || item['role'] === 'developer')
}

export function hashMessagePrefix(item: Json, text: string, before: string | undefined): string {
  return getRoleLetter(item) + base62Hash(`${before ?? ''}${text}`, HASH_CHARS)
}

/** The current elements of an array that only grows, and others after them. */
export function joinHashLists(base: readonly string[], added: readonly string[]): HashList {
  const { length } = base
  return { length: length + added.length, at: (index) => (index < length ? base[index] : added[index - length]) }
}

/** The length of the common prefix. A hash covers all before it, so a binary search finds it. */
export function countCommonPrefix(one: HashList, other: HashList): number {
  let [from, to] = [0, Math.min(one.length, other.length)]
  while (from < to) {
    const middle = (from + to + 1) >> 1
    if (one.at(middle - 1) === other.at(middle - 1)) from = middle
    else to = middle - 1
  }
  return from
}

const HASH_CHARS = 10

const SYSTEM_FIELDS: readonly string[] = ['system', 'instructions', 'systemInstruction', 'system_instruction']

/** The ids of the prompt, of the previous response and of what is continued are not part of what the model reads. */
const REQUEST_ID_FIELDS: readonly string[] = [
  'user_prompt_id',
  'diagnostics',
  'continuation_token',
  'continuationToken',
]

/** The same for the response that OpenAI compares with, which stands among other options. */
function omitComparedResponse({ prompt_cache_options: options, ...rest }: JsonObject): JsonObject {
  if (!isObject(options)) return rest
  const { comparison_response_id: _id, ...others } = options
  return Object.keys(others).length === 0 ? rest : { ...rest, prompt_cache_options: others }
}

/** The fields of an envelope, and those of the request inside it. */
function flattenEnvelope(frame: JsonObject): JsonObject {
  const inner = frame['request']
  return isObject(inner) ? { ...frame, request: null, ...inner } : frame
}

/** User, assistant or results. */
function getRoleLetter(item: Json): 'u' | 'a' | 'r' {
  if (!isObject(item)) return 'u'
  const { role, type } = item
  const letter = STEP_LETTERS.get(stringOrEmpty(type))
  if (letter) return letter
  if (role === 'tool' || (typeof type === 'string' && type.endsWith('_output'))) return 'r'
  if (role === 'assistant' || role === 'model' || (role === undefined && type !== undefined)) return 'a'
  const parts = item['content'] ?? item['parts']
  return Array.isArray(parts) && parts.some(isToolResult) ? 'r' : 'u'
}

/** Steps of Interactions whose type says something else than that of an item. */
const STEP_LETTERS: ReadonlyMap<string, 'u' | 'a' | 'r'> = new Map([
  ['user_input', 'u'],
  ['model_output', 'a'],
  ['function_result', 'r'],
])

function isToolResult(part: Json): boolean {
  return isObject(part) && (part['type'] === 'tool_result' || part['functionResponse'] !== undefined)
}

/** The system prompt is long, and nearly always the same as in the previous request. */
function createCachedHash(): (text: string) => string {
  let [lastText, hash] = ['', base62Hash('', HASH_CHARS)]
  return (text) => {
    if (text !== lastText) [lastText, hash] = [text, base62Hash(text, HASH_CHARS)]
    return hash
  }
}
