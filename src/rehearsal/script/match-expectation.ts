import { type IncomingRequest, extractTexts } from '../request/incoming-request.ts'
import type { RequestExpectation, TextPattern } from './script.ts'

export interface ExpectationInput {
  readonly incomingRequest: IncomingRequest
  /** Assistant turns since the start of the script. */
  readonly position: number
  /** Counted from 1, per script. */
  readonly requestNumber: number
}

/** A message about the first condition that is not met; undefined if all are. */
export function describeUnmetExpectation(expectation: RequestExpectation, input: ExpectationInput): string | undefined {
  const { incomingRequest, position } = input
  const { wire, request, turns, tools, user, system, results } = expectation
  if (wire !== undefined && wire !== incomingRequest.wire)
    return `It came on the wire ${incomingRequest.wire}, not on ${wire}.`
  if (request !== undefined && request !== input.requestNumber)
    return `It is request ${input.requestNumber} to this script, not request ${request}.`
  if (turns !== undefined && turns !== position)
    return `The assistant has spoken ${formatTimes(position)} since the start, not ${formatTimes(turns)}.`
  if (tools !== undefined) {
    const declared = incomingRequest.readRequest().tools.map((tool) => tool.name)
    const missing = tools.find((name) => !declared.includes(name))
    if (missing !== undefined)
      return `The tool ${missing} is not declared; declared are ${declared.join(', ') || 'none'}.`
  }
  if (user === undefined && system === undefined && results === undefined) return undefined
  const texts = extractTexts(incomingRequest.readRequest())
  const checks: [string, TextPattern | undefined, string][] = [
    ['What the person said last', user, texts.user],
    ['The system prompt', system, texts.system],
    ...toPatternList(results).map((one): [string, TextPattern, string] => [
      'What the tools answered',
      one,
      texts.result,
    ]),
  ]
  for (const [subject, pattern, text] of checks) {
    if (pattern !== undefined && !matchesPattern(pattern, text))
      return `${subject} ${describePattern(pattern)}; it is ${quoteText(text)}.`
  }
  return undefined
}

export function matchesPattern(pattern: TextPattern, text: string): boolean {
  if (typeof pattern === 'string') return text.includes(pattern)
  return 'not' in pattern ? !matchesPattern(pattern.not, text) : new RegExp(pattern.matches, 'm').test(text)
}

function describePattern(pattern: TextPattern, not = false): string {
  if (typeof pattern !== 'string' && 'not' in pattern) return describePattern(pattern.not, !not)
  const must = not ? 'must not' : 'must'
  return typeof pattern === 'string' ? `${must} contain ${quoteText(pattern)}` : `${must} match /${pattern.matches}/`
}

function quoteText(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}…` : text)
}

function formatTimes(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

function toPatternList(results: RequestExpectation['results']): readonly TextPattern[] {
  if (results === undefined) return []
  return Array.isArray(results) ? (results as readonly TextPattern[]) : [results as TextPattern]
}

const MAX_QUOTED_CHARS = 300
