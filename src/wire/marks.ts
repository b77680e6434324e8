import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { base62Hash } from '../schema/hash.ts'

/** What a request is made of, by hashes, so that one can tell later where two requests part, and why a cache missed. */
export interface Marks {
  /** All that is neither tools nor system prompt nor history. */
  readonly settings: string
  readonly tools: string
  readonly system: string
  /** One for each message: a letter for whose it is, and the hash of the history up to and with it. */
  readonly history: MarkList
}

/** Marks in order. It never changes, though what it was made of may grow. */
export interface MarkList {
  readonly length: number
  at(index: number): string | undefined
}

/** Whose a message is: the person's, the model's, or results of tools. */
export type Whose = 'u' | 'a' | 'r'

/** The history of a body as marks, and what it says to the system, on wires where that is a message of it. */
export interface MarkedHistory {
  readonly said: string
  readonly history: MarkList
}

/**
 * Marks bodies: the parts before the history as hashes, and the history. What was hashed last is not hashed again, and
 * nothing is hashed before somebody looks at it: a request does not wait for its marks.
 */
export function marker(): (frame: JsonObject, marked: () => MarkedHistory) => Marks {
  const [settings, tools, system] = [rememberingHash(), rememberingHash(), rememberingHash()]
  return (frame, marked) => {
    const rest = flat(frame)
    return {
      get settings() {
        const others = Object.entries(rest).filter(([key]) => key !== 'tools' && !SYSTEM.includes(key) && key !== TRACE)
        return settings(JSON.stringify(others))
      },
      get tools() {
        return tools(JSON.stringify(rest['tools'] ?? null))
      },
      get system() {
        const before = SYSTEM.flatMap((key) => (rest[key] === undefined ? [] : [JSON.stringify(rest[key])]))
        return system([marked().said, ...before].join('\n'))
      },
      get history() {
        return marked().history
      },
    }
  }
}

/** Is this message the system prompt, on wires that send it as one? */
export function isSystem(item: Json | undefined): boolean {
  return isObject(item) && (item['role'] === 'system' || item['role'] === 'developer')
}

/** The mark of a message: it holds for everything before it, too. */
export function markOf(item: Json, text: string, before: string | undefined): string {
  return whose(item) + base62Hash(`${before ?? ''}${text}`, LENGTH)
}

/** The marks of a part that only grows, up to where it is now, and of others after it. */
export function markList(grown: readonly string[], after: readonly string[]): MarkList {
  const { length } = grown
  return { length: length + after.length, at: (index) => (index < length ? grown[index] : after[index - length]) }
}

/** How many marks two lists have in common at their beginning; a mark covers all before it, so halving finds it. */
export function common(one: MarkList, other: MarkList): number {
  let [from, to] = [0, Math.min(one.length, other.length)]
  while (from < to) {
    const middle = (from + to + 1) >> 1
    if (one.at(middle - 1) === other.at(middle - 1)) from = middle
    else to = middle - 1
  }
  return from
}

const LENGTH = 10

const SYSTEM: readonly string[] = ['system', 'instructions', 'systemInstruction']

/** It names a prompt for the vendor's own records, and is no part of what the model reads. */
const TRACE = 'user_prompt_id'

/** An envelope's own fields, and those of the request in it. */
function flat(frame: JsonObject): JsonObject {
  const inner = frame['request']
  return isObject(inner) ? { ...frame, request: null, ...inner } : frame
}

function whose(item: Json): Whose {
  if (!isObject(item)) return 'u'
  const { role, type } = item
  if (role === 'tool' || (typeof type === 'string' && type.endsWith('_output'))) return 'r'
  if (role === 'assistant' || role === 'model' || (role === undefined && type !== undefined)) return 'a'
  const parts = item['content'] ?? item['parts']
  return Array.isArray(parts) && parts.some(isResult) ? 'r' : 'u'
}

function isResult(part: Json): boolean {
  return isObject(part) && (part['type'] === 'tool_result' || part['functionResponse'] !== undefined)
}

/** A system prompt and its tools are long, and nearly always those of the request before. */
function rememberingHash(): (text: string) => string {
  let [known, hash] = ['', base62Hash('', LENGTH)]
  return (text) => {
    if (text !== known) [known, hash] = [text, base62Hash(text, LENGTH)]
    return hash
  }
}
