import type { Warning } from '../../model/event.ts'
import type { AssistantPart, AssistantTurn, CallPart, ResultPart } from '../../model/turn.ts'
import { formatExcerpt } from '../unread-fields.ts'
import type { CallResultPair } from './transcript.ts'

/** A response whose results are being collected. */
export interface OpenTurn {
  readonly turn: AssistantTurn
  /** The parts that are sent. */
  readonly parts: readonly AssistantPart[]
  readonly results: ResultPart[]
  /** Were the warnings about it given with an earlier request? */
  readonly isReported: boolean
}

/** Gives each call its one result, in the order of the calls. A warning names every result and argument that is not sent. */
export function pairCallsWithResults(
  { turn, parts, results }: OpenTurn,
  newId: (call: CallPart) => string,
): { pairs: CallResultPair[]; warnings: Warning[] } {
  const warnings: Warning[] = []
  const warn = (code: string, message: string) => warnings.push({ code, message })
  const calls = parts.filter((part) => part.kind === 'call')
  const unnamed = turn.parts.flatMap((part) => (part.kind === 'call' && part.name === '' ? [part] : []))
  for (const { raw } of unnamed)
    warn('unnamed-call', `A call without a name was left out, with its result: ${formatExcerpt(raw)} (T08).`)
  const resultsById = new Map<string, ResultPart[]>()
  for (const result of results) {
    const candidates = resultsById.get(result.id)
    if (candidates) candidates.push(result)
    else resultsById.set(result.id, [result])
  }
  const remainingCalls = new Map<string, number>()
  for (const { id } of calls) remainingCalls.set(id, (remainingCalls.get(id) ?? 0) + 1)
  const pairs = calls.map((call) => {
    const later = (remainingCalls.get(call.id) ?? 1) - 1
    remainingCalls.set(call.id, later)
    const candidates = resultsById.get(call.id) ?? []
    const result = takeResult(candidates, later)
    if (!result) warn('unanswered-call', `The call of ${call.name} has no result; it is sent as not run (T88).`)
    else if (later === 0 && candidates.length > 0)
      warn(
        'duplicate-result',
        `The call of ${call.name} has ${candidates.length + 1} results; only the last is sent (T90).`,
      )
    if (call.input === undefined && !call.freeform && !isExplainedByResult(call, result))
      warn(
        'invalid-arguments',
        `The arguments of ${call.name} are not a JSON object; {} is sent: ${formatExcerpt(call.raw)} (T41).`,
      )
    return { call, id: newId(call), result: result ?? createMissingResult(call) }
  })
  const orphans = results.filter(({ id }) => !remainingCalls.has(id) && !unnamed.some((call) => call.id === id))
  return { pairs, warnings: [...warnings, ...orphans.map(createOrphanWarning)] }
}

/** On some wires a result does not name its tool; then its id says which it is. */
export function createOrphanWarning({ id, name }: ResultPart): Warning {
  const label = name === '' ? (id === '' ? 'A result' : `The result of the call ${id}`) : `A result of ${name}`
  return { code: 'orphan-result', message: `${label} has no call and was left out (T89).` }
}

/** Does the result say that the arguments were not valid? Those of our own sessions do. */
function isExplainedByResult(call: CallPart, result: ResultPart | undefined): boolean {
  return call.flaw !== undefined && (result === undefined || result.status !== 'ok')
}

/** Removes and returns the last result (T90), but leaves one for each later call with the same id (T10). */
function takeResult(candidates: ResultPart[], later: number): ResultPart | undefined {
  return candidates.splice(-1 - Math.min(later, candidates.length - 1), 1)[0]
}

/** The result of a call that has none (T88), with what the model wrote if the call is flawed (T41). */
function createMissingResult(call: CallPart): ResultPart {
  const excerpt = call.flaw && call.raw !== '' ? ` The arguments came as: ${call.raw.slice(0, 2000)}` : ''
  const message = call.flaw
    ? `The call did not run. ${call.flaw.message}${excerpt}`
    : 'The call was interrupted and did not run to its end.'
  return {
    kind: 'result',
    id: call.id,
    name: call.name,
    status: call.flaw ? 'error' : 'interrupted',
    content: [{ kind: 'text', text: message }],
  }
}
