import type { JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import { ENDPOINTS } from '../../wire/endpoint.ts'
import type { Lesson, Refusal } from './lesson.ts'

/** The lesson from a parameter that is refused by name, of those that were sent and can be left out (T78, T150, T154, T155). */
export function parameterOf({ words, param, wire }: Refusal, sent: JsonObject): Lesson | undefined {
  const name = refused(words, param, wire, sent)
  return name === undefined
    ? undefined
    : { facts: { refuses: [name] }, told: `does not take the parameter ${name}; it is left out` }
}

function refused(words: string, param: string, wire: WireId, sent: JsonObject): string | undefined {
  const { optionalFields, fieldOf } = ENDPOINTS[wire]
  const names = optionalFields(sent)
  const pointed = names.filter((name) => param !== '' && sameName(fieldOf(param), name))
  if (pointed[0] !== undefined) return pointed[0]
  if (!REFUSAL.test(words)) return undefined
  // The longest name first: `reasoning.effort` says more than `reasoning`.
  return [...names].sort((a, b) => b.length - a.length).find((name) => mentions(words, name))
}

const REFUSAL =
  /unsupported|not supported|n't support|not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|extra (?:inputs|fields|parameters)|not (?:accept|valid|enabled)|invalid|cannot be (?:used|set)|deprecated|no longer/i

/** Servers write the same name in snake and in camel case. */
function sameName(one: string, other: string): boolean {
  const plain = (name: string): string => name.replaceAll('_', '').toLowerCase()
  return plain(one) === plain(other)
}

function mentions(words: string, name: string): boolean {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const camel = name.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())
  const forms = [...new Set([name, snake, camel])].map((form) => form.replace('.', '\\.'))
  return new RegExp(`(?<!\\w)(?:${forms.join('|')})(?!\\w)`).test(words)
}
