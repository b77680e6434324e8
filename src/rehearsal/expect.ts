import { type Asked, textsOf } from './asked.ts'
import type { Expectation, Pattern } from './script.ts'

/** What a condition is held against. */
export interface Held {
  readonly asked: Asked
  /** How many times the assistant has spoken since the start of the script. */
  readonly position: number
  /** Which request to this script it is, counted from 1. */
  readonly request: number
}

/** Says in a sentence what is not as expected; undefined where all is. */
export function unmet(expectation: Expectation, held: Held): string | undefined {
  const { asked, position } = held
  const { wire, request, turns, tools, user, system, results } = expectation
  if (wire !== undefined && wire !== asked.wire) return `It came on the wire ${asked.wire}, not on ${wire}.`
  if (request !== undefined && request !== held.request)
    return `It is request ${held.request} to this script, not request ${request}.`
  if (turns !== undefined && turns !== position)
    return `The assistant has spoken ${times(position)} since the start, not ${times(turns)}.`
  if (tools !== undefined) {
    const declared = asked.request().tools.map((tool) => tool.name)
    const missing = tools.find((name) => !declared.includes(name))
    if (missing !== undefined)
      return `The tool ${missing} is not declared; declared are ${declared.join(', ') || 'none'}.`
  }
  if (user === undefined && system === undefined && results === undefined) return undefined
  const texts = textsOf(asked.request())
  const wanted: [string, Pattern | undefined, string][] = [
    ['What the person said last', user, texts.user],
    ['The system prompt', system, texts.system],
    ...list(results).map((one): [string, Pattern, string] => ['What the tools answered', one, texts.result]),
  ]
  for (const [what, pattern, text] of wanted) {
    if (pattern !== undefined && !fits(pattern, text)) return `${what} ${wish(pattern)}; it is ${shown(text)}.`
  }
  return undefined
}

/** Does a text fit a pattern? */
export function fits(pattern: Pattern, text: string): boolean {
  if (typeof pattern === 'string') return text.includes(pattern)
  return 'not' in pattern ? !fits(pattern.not, text) : new RegExp(pattern.matches, 'm').test(text)
}

function wish(pattern: Pattern, not = false): string {
  if (typeof pattern !== 'string' && 'not' in pattern) return wish(pattern.not, !not)
  const must = not ? 'must not' : 'must'
  return typeof pattern === 'string' ? `${must} contain ${shown(pattern)}` : `${must} match /${pattern.matches}/`
}

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

function list(results: Expectation['results']): readonly Pattern[] {
  if (results === undefined) return []
  return Array.isArray(results) ? (results as readonly Pattern[]) : [results as Pattern]
}

const SHOWN = 300
