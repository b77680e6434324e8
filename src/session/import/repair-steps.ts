import { defined } from '../../model/defined.ts'
import { createTextResult } from '../../model/result.ts'
import type {
  AssistantPart,
  AssistantTurn,
  CallPart,
  MediaPart,
  NativeData,
  ResultPart,
  ResultsTurn,
  TextPart,
} from '../../model/turn.ts'
import { FindingCounter, type ForeignStep, type ImportFinding } from './foreign-session.ts'

/**
 * Makes the steps of another agent's log a valid conversation: every call has a unique id and exactly one result, right after
 * its turn. Native data is left out: signatures and encrypted reasoning of another account are refused by their vendor.
 */
export function repairSteps(steps: readonly ForeignStep[]): {
  readonly steps: readonly ForeignStep[]
  readonly findings: readonly ImportFinding[]
} {
  const findings = new FindingCounter()
  const turns = mergeTurns(steps.map((step) => stripStep(step, findings)).filter(hasContent))
  const results = assignResults(turns, findings)
  const repaired: ForeignStep[] = []
  for (const step of turns) {
    if (step.role === 'results') {
      repaired.push(...(results.withoutCall.get(step) ?? []).map((result) => toResults([result])))
      continue
    }
    if (step.role !== 'assistant') {
      repaired.push(step)
      continue
    }
    const answered = results.calls.get(step) ?? []
    const renamed = new Map(answered.map(({ call, id }) => [call, { ...call, id }]))
    const dropped = results.repeated.get(step)
    const parts = step.parts
      .filter((part) => part.kind !== 'call' || !dropped?.has(part))
      .map((part) => (part.kind === 'call' ? (renamed.get(part) ?? part) : part))
    repaired.push({ ...step, parts, finish: { reason: answered.length > 0 ? 'calls' : 'stop' } })
    if (answered.length > 0) repaired.push(toResults(answered.map((entry) => toResult(entry, findings))))
  }
  return { steps: repaired, findings: findings.list() }
}

/** A call of the log, under the id that it gets here, with its result if there is one. */
interface TrackedCall {
  readonly call: CallPart
  readonly id: string
  result?: ResultPart
}

interface AssignedResults {
  readonly calls: ReadonlyMap<AssistantTurn, readonly TrackedCall[]>
  /** Calls that the log has twice, word for word, in one turn. */
  readonly repeated: ReadonlyMap<AssistantTurn, ReadonlySet<CallPart>>
  readonly withoutCall: ReadonlyMap<ResultsTurn, readonly ResultPart[]>
}

/** Finds the call of each result: the last one before it with this id and no result; else the next one after it. */
function assignResults(turns: readonly ForeignStep[], findings: FindingCounter): AssignedResults {
  const calls = new Map<AssistantTurn, TrackedCall[]>()
  const repeated = new Map<AssistantTurn, Set<CallPart>>()
  const withoutCall = new Map<ResultsTurn, ResultPart[]>()
  const newId = createIdGenerator()
  const tracked: TrackedCall[] = []
  const waiting: { readonly turn: ResultsTurn; readonly result: ResultPart }[] = []
  let lastTurn: readonly TrackedCall[] = []
  for (const turn of turns) {
    if (turn.role === 'assistant') {
      const { kept, dropped } = splitRepeatedCalls(turn)
      findings.add('repeated-call', dropped.size)
      repeated.set(turn, dropped)
      lastTurn = kept.map((call) => {
        const id = newId(call.id)
        if (id !== call.id && call.id !== '') findings.add('repeated-call-id')
        return { call, id }
      })
      calls.set(turn, [...lastTurn])
      tracked.push(...lastTurn)
    }
    if (turn.role !== 'results') continue
    for (const result of turn.parts) {
      const matches = tracked.filter(({ call }) => call.id === result.id)
      const owner = matches.findLast(({ result: found }) => !found)
      if (owner) {
        owner.result = result
        if (!lastTurn.includes(owner)) findings.add('misplaced-result')
      } else if (matches.length > 0) findings.add('repeated-result')
      else waiting.push({ turn, result })
    }
  }
  for (const { turn, result } of waiting) {
    // Written before its call: the lines of the log are out of order.
    const owner =
      result.id === '' ? undefined : tracked.find(({ call, result: found }) => call.id === result.id && !found)
    if (owner) {
      owner.result = result
      findings.add('misplaced-result')
      continue
    }
    findings.add('result-without-call')
    withoutCall.set(turn, [...(withoutCall.get(turn) ?? []), { ...result, id: newId(result.id) }])
  }
  return { calls, repeated, withoutCall }
}

function splitRepeatedCalls({ parts }: AssistantTurn) {
  const seen = new Set<string>()
  const dropped = new Set<CallPart>()
  const calls = parts.filter((part) => part.kind === 'call')
  for (const call of calls) {
    const key = JSON.stringify([call.id, call.name, call.raw])
    if (call.id !== '' && seen.has(key)) dropped.add(call)
    seen.add(key)
  }
  return { kept: calls.filter((call) => !dropped.has(call)), dropped }
}

function createIdGenerator(): (wanted: string) => string {
  const used = new Set<string>()
  return (wanted) => {
    const base = wanted === '' ? 'imported' : wanted
    let id = wanted === '' ? `${base}-1` : base
    for (let number = 2; used.has(id); number++) id = `${base}-${number}`
    used.add(id)
    return id
  }
}

function toResult({ call, id, result }: TrackedCall, findings: FindingCounter): ResultPart {
  const { name } = call
  if (result) return { ...result, id, name }
  findings.add('unanswered-call')
  const text = `The session ended before a result of ${name} was stored. It may have had an effect; check before you call it again.`
  return createTextResult({ id, name }, 'interrupted', text)
}

function toResults(parts: readonly ResultPart[]): ForeignStep {
  return { role: 'results', parts }
}

/** Without native data, and without parts that were only that. */
function stripStep(step: ForeignStep, findings: FindingCounter): ForeignStep {
  switch (step.role) {
    case 'user':
      return { role: 'user', parts: stripContent(step.parts) }
    case 'assistant': {
      const { origin, finish, usage } = step
      const parts = step.parts.flatMap((part): AssistantPart[] => {
        if (part.kind === 'call') {
          if (part.name === '') findings.add('unnamed-call')
          return [{ ...withoutNative(part), name: part.name === '' ? 'unknown' : part.name }]
        }
        if (part.kind === 'reasoning') return part.text.trim() === '' ? [] : [withoutNative(part)]
        return stripContent([part])
      })
      return { role: 'assistant', origin, parts, finish, ...defined({ usage }) }
    }
    case 'results':
      return {
        role: 'results',
        parts: step.parts.map((result) => ({ ...withoutNative(result), content: stripContent(result.content) })),
      }
    case 'note':
      return { role: 'note', text: step.text }
    case 'summary':
      return step
    default:
      return step satisfies never
  }
}

function stripContent(parts: readonly (TextPart | MediaPart)[]): (TextPart | MediaPart)[] {
  return parts
    .filter((part) => (part.kind === 'text' ? part.text !== '' : (part.data ?? part.uri ?? '') !== ''))
    .map(withoutNative)
}

function withoutNative<P extends { readonly native?: NativeData }>(part: P): P {
  const { native: _unused, ...rest } = part
  // Only an optional field is gone.
  return rest as P
}

function hasContent(step: ForeignStep): boolean {
  if (step.role === 'note' || step.role === 'summary') return step.text.trim() !== ''
  return step.parts.length > 0
}

/** Answers of the model that follow each other without a result or a message between them are one. */
function mergeTurns(steps: readonly ForeignStep[]): ForeignStep[] {
  const merged: ForeignStep[] = []
  for (const step of steps) {
    const last = merged.at(-1)
    if (last?.role === 'assistant' && step.role === 'assistant')
      merged[merged.length - 1] = { ...step, parts: [...last.parts, ...step.parts] }
    else merged.push(step)
  }
  return merged
}
