import type { Frame } from '../../wire/framing/frame.ts'
import type { WireId } from '../../model/turn.ts'
import type { ProbeExchange } from '../probe-exchange.ts'
import { decodeTraceBody, parseTraceFrames, inspectFrames } from '../inspect/inspect-frames.ts'
import type { FrameInspection, InspectedCallFragment } from '../inspect/frame-inspection.ts'
import type { ResponseTrace } from '../recording-client.ts'

export interface AttemptAnalysis {
  readonly wire: WireId
  readonly exchange: ProbeExchange
  readonly trace: ResponseTrace
  /** Was the turn made from this attempt? */
  readonly isLastAttempt: boolean
  /** Is it the first exchange? Then any rejection says something about the server, not about the request. */
  readonly isFirstExchange: boolean
  readonly frames: readonly Frame[]
  readonly inspection: FrameInspection
  readonly body: string
  /** Is the body server-sent events, whatever the content type says? */
  readonly isSse: boolean
}

export function analyzeAttempts(exchange: ProbeExchange, wire: WireId, isFirstExchange: boolean): AttemptAnalysis[] {
  return exchange.traces.map((trace, at) => {
    const frames = parseTraceFrames(trace)
    const body = decodeTraceBody(trace)
    return {
      wire,
      exchange,
      trace,
      isLastAttempt: at === exchange.traces.length - 1,
      isFirstExchange,
      frames,
      inspection: inspectFrames(wire, frames),
      body,
      isSse: SSE_START_PATTERN.test(body),
    }
  })
}

const SSE_START_PATTERN = /^\uFEFF?(?:data|event|id|retry)?:/

/** The fragments of calls, by index. */
export function groupFragmentsByIndex(fragments: readonly InspectedCallFragment[]): InspectedCallFragment[][] {
  const groupsByIndex = new Map<number, InspectedCallFragment[]>()
  for (const fragment of fragments) {
    if (typeof fragment.index !== 'number') continue
    groupsByIndex.set(fragment.index, [...(groupsByIndex.get(fragment.index) ?? []), fragment])
  }
  return [...groupsByIndex.values()]
}

export function toNonEmptyString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The argument texts of a call, without the copy at the end. */
export function getArgumentTexts(group: readonly InspectedCallFragment[]): string[] {
  return group.flatMap((fragment) => (fragment.isFinalCopy ? [] : (toNonEmptyString(fragment.arguments) ?? [])))
}
