import { isObject, type JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import type { Lesson, Refusal } from './lesson.ts'

/** The lesson from a parameter that is refused by name, of those that were sent and can be left out (T78, T150, T154, T155). */
export function parameterOf({ words, param, wire }: Refusal, sent: JsonObject): Lesson | undefined {
  const name = refused(words, param, wire, sent)
  return name === undefined
    ? undefined
    : { facts: { refuses: [name] }, told: `does not take the parameter ${name}; it is left out` }
}

function refused(words: string, param: string, wire: WireId, sent: JsonObject): string | undefined {
  const names = droppable(sent, wire)
  const pointed = names.filter((name) => param !== '' && sameName(lastOf(param, wire), name))
  if (pointed[0] !== undefined) return pointed[0]
  if (!REFUSAL.test(words)) return undefined
  // The longest name first: `reasoning.effort` says more than `reasoning`.
  return [...names].sort((a, b) => b.length - a.length).find((name) => mentions(words, name))
}

const REFUSAL =
  /unsupported|not supported|n't support|not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|extra (?:inputs|fields|parameters)|not (?:accept|valid|enabled)|invalid|cannot be (?:used|set)|deprecated|no longer/i

/** What no request can do without; the history and the tools have lessons of their own. */
const ESSENTIAL = new Set([
  'model',
  'messages',
  'contents',
  'input',
  'instructions',
  'system',
  'systemInstruction',
  'generationConfig',
  'tools',
  'stream',
  'request',
  'project',
  'session_id',
  'user_prompt_id',
])

function droppable(sent: JsonObject, wire: WireId): string[] {
  const inner = wire === 'code-assist' && isObject(sent['request']) ? sent['request'] : sent
  const config = isObject(inner['generationConfig']) ? Object.keys(inner['generationConfig']) : []
  // Only this wire can leave out a field inside another.
  const nested =
    wire !== 'openai-responses'
      ? []
      : Object.entries(inner).flatMap(([name, value]) =>
          isObject(value) ? Object.keys(value).map((key) => `${name}.${key}`) : [],
        )
  const required = wire === 'anthropic' ? ['max_tokens'] : []
  return [...Object.keys(inner), ...config, ...nested].filter(
    (name) => !ESSENTIAL.has(name) && !required.includes(name),
  )
}

/** `generation_config.thinking_config.thinking_budget` is about the config that we can leave out. */
function lastOf(param: string, wire: WireId): string {
  if (wire === 'openai-responses') return param
  const steps = param.replace(/^(?:request|generation_?config)\./i, '').split(/[.[]/)
  return steps[0] ?? param
}

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
