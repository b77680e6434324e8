import { collectDeclaredTools } from '../../wire/late-tools.ts'
import { countResults, type IncomingRequest, extractTexts } from '../request/incoming-request.ts'
import type { RequestExpectation, TextCondition } from './script.ts'

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
  const { wire, request, turns, resultCount, tools, user, system, results } = expectation
  if (wire !== undefined && wire !== incomingRequest.wire)
    return `The request uses the wire ${incomingRequest.wire}, not ${wire}.`
  if (request !== undefined && request !== input.requestNumber)
    return `This is request ${input.requestNumber} to the script, not request ${request}.`
  if (turns !== undefined && turns !== position)
    return `The number of assistant turns since the start is ${position}, not ${turns}.`
  if (resultCount !== undefined) {
    const found = countResults(incomingRequest.readRequest())
    if (found !== resultCount) return `The number of tool results is ${found}, not ${resultCount}.`
  }
  if (tools !== undefined) {
    const declared = collectDeclaredTools(incomingRequest.readRequest()).current.map((tool) => tool.name)
    const missing = tools.find((name) => !declared.includes(name))
    if (missing !== undefined)
      return `The tool ${missing} is not declared; the declared ones are ${declared.join(', ') || 'none'}.`
  }
  if (user === undefined && system === undefined && results === undefined) return undefined
  const texts = extractTexts(incomingRequest.readRequest())
  const checks: [string, TextCondition | undefined, string][] = [
    ['The last user message', user, texts.user],
    ['The system prompt', system, texts.system],
    ...toPatternList(results).map((one): [string, TextCondition, string] => ['The tool results', one, texts.result]),
  ]
  for (const [subject, pattern, text] of checks) {
    if (pattern !== undefined && !meetsTextCondition(pattern, text))
      return `${subject} ${describePattern(pattern)}; it is ${quoteText(text)}.`
  }
  return undefined
}

export function meetsTextCondition(pattern: TextCondition, text: string): boolean {
  if (typeof pattern === 'string') return text.includes(pattern)
  return 'not' in pattern ? !meetsTextCondition(pattern.not, text) : new RegExp(pattern.matches, 'm').test(text)
}

function describePattern(pattern: TextCondition, not = false): string {
  if (typeof pattern !== 'string' && 'not' in pattern) return describePattern(pattern.not, !not)
  const must = not ? 'must not' : 'must'
  return typeof pattern === 'string' ? `${must} contain ${quoteText(pattern)}` : `${must} match /${pattern.matches}/`
}

function quoteText(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}…` : text)
}

function toPatternList(results: RequestExpectation['results']): readonly TextCondition[] {
  if (results === undefined) return []
  return Array.isArray(results) ? (results as readonly TextCondition[]) : [results as TextCondition]
}

const MAX_QUOTED_CHARS = 300
