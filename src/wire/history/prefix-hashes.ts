import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { base62Hash } from '../../schema/hash.ts'

/** What a request is made of, by hashes, so that one can tell later where two requests part, and why a cache missed. */
export interface PrefixHashes {
  /** All that is neither tools nor system prompt nor history. */
  readonly settings: string
  readonly tools: string
  readonly system: string
  /** One for each message: a letter for whose it is, and the hash of the history up to and with it. */
  readonly history: HashList
}

/** Marks in order. It never changes, though what it was made of may grow. */
export interface HashList {
  readonly length: number
  at(index: number): string | undefined
}

/** Whose a message is: the person's, the model's, or results of tools. */
export type RoleLetter = 'u' | 'a' | 'r'

/** The history of a body as marks, and what it says to the system, on wires where that is a message of it. */
export interface HashedHistory {
  readonly systemText: string
  readonly history: HashList
}

/**
 * Marks bodies: the parts before the history as hashes, and the history. What was hashed last is not hashed again, and
 * nothing is hashed before somebody looks at it: a request does not wait for its marks.
 */
export function createPrefixHasher(): (frame: JsonObject, getHashedHistory: () => HashedHistory) => PrefixHashes {
  const [settings, tools, system] = [createCachedHash(), createCachedHash(), createCachedHash()]
  return (frame, getHashedHistory) => {
    const rest = flattenEnvelope(frame)
    return {
      get settings() {
        const others = Object.entries(rest).filter(
          ([key]) => key !== 'tools' && !SYSTEM_FIELDS.includes(key) && key !== PROMPT_ID_FIELD,
        )
        return settings(JSON.stringify(others))
      },
      get tools() {
        return tools(JSON.stringify(rest['tools'] ?? null))
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

/** Is this message the system prompt, on wires that send it as one? */
export function isSystemMessage(item: Json | undefined): boolean {
  return isObject(item) && (item['role'] === 'system' || item['role'] === 'developer')
}

/** The mark of a message: it holds for everything before it, too. */
export function hashMessage(item: Json, text: string, before: string | undefined): string {
  return getRoleLetter(item) + base62Hash(`${before ?? ''}${text}`, HASH_CHARS)
}

/** The marks of a part that only grows, up to where it is now, and of others after it. */
export function joinHashLists(base: readonly string[], added: readonly string[]): HashList {
  const { length } = base
  return { length: length + added.length, at: (index) => (index < length ? base[index] : added[index - length]) }
}

/** How many marks two lists have in common at their beginning; a mark covers all before it, so halving finds it. */
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

const SYSTEM_FIELDS: readonly string[] = ['system', 'instructions', 'systemInstruction']

/** It names a prompt for the vendor's own records, and is no part of what the model reads. */
const PROMPT_ID_FIELD = 'user_prompt_id'

/** An envelope's own fields, and those of the request in it. */
function flattenEnvelope(frame: JsonObject): JsonObject {
  const inner = frame['request']
  return isObject(inner) ? { ...frame, request: null, ...inner } : frame
}

function getRoleLetter(item: Json): RoleLetter {
  if (!isObject(item)) return 'u'
  const { role, type } = item
  if (role === 'tool' || (typeof type === 'string' && type.endsWith('_output'))) return 'r'
  if (role === 'assistant' || role === 'model' || (role === undefined && type !== undefined)) return 'a'
  const parts = item['content'] ?? item['parts']
  return Array.isArray(parts) && parts.some(isToolResult) ? 'r' : 'u'
}

function isToolResult(part: Json): boolean {
  return isObject(part) && (part['type'] === 'tool_result' || part['functionResponse'] !== undefined)
}

/** A system prompt and its tools are long, and nearly always those of the request before. */
function createCachedHash(): (text: string) => string {
  let [lastText, hash] = ['', base62Hash('', HASH_CHARS)]
  return (text) => {
    if (text !== lastText) [lastText, hash] = [text, base62Hash(text, HASH_CHARS)]
    return hash
  }
}
