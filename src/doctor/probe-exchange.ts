import type { TurnEvent, Warning } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import { fold, splitRunnableCalls } from '../model/fold.ts'
import type { ModelRequest } from '../model/request.ts'
import { joinTextParts } from '../model/text.ts'
import type { AssistantTurn, CallPart } from '../model/turn.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'
import type { Model } from '../provider/index.ts'
import type { ResponseTrace } from './recording-client.ts'

/** One request to an endpoint, the decoded response, and its bytes. */
export interface ProbeExchange {
  readonly request: ModelRequest
  readonly stream: boolean
  readonly turn: AssistantTurn
  readonly text: string
  /** The calls that may run. */
  readonly calls: readonly CallPart[]
  readonly fault: Fault | undefined
  readonly warnings: readonly Warning[]
  /** One for each attempt, in order. */
  readonly traces: readonly ResponseTrace[]
  /** The sum of all attempts. */
  readonly usage: Usage
}

/** Sends one request. `onEvent` sees each event as it comes, and may abort the response. */
export async function sendProbeRequest(
  model: Model,
  request: ModelRequest,
  options: {
    key: string
    traces: () => readonly ResponseTrace[]
    onEvent?: (event: TurnEvent, stop: () => void) => void
  },
): Promise<ProbeExchange> {
  const abortController = new AbortController()
  const events: TurnEvent[] = []
  for await (const event of model.stream(request, { turnKey: options.key, signal: abortController.signal })) {
    events.push(event)
    options.onEvent?.(event, () => abortController.abort())
  }
  const { turn, warnings, attempts = [] } = fold(events, model.origin)
  const usages = [...attempts, turn].flatMap(({ usage }) => usage ?? [])
  return {
    request,
    stream: request.params?.stream ?? true,
    turn,
    text: joinTextParts(turn.parts).trim(),
    calls: splitRunnableCalls(turn).calls,
    fault: turn.finish.fault,
    warnings,
    traces: options.traces(),
    usage: usages.reduce(addUsage, NO_USAGE),
  }
}

/** The content of a turn without ids and native data, for comparison. */
export function toComparableTurn(turn: AssistantTurn): string {
  return JSON.stringify([
    joinTextParts(turn.parts).trim(),
    ...turn.parts.flatMap((part) => (part.kind === 'call' ? [[part.name, part.input ?? part.raw]] : [])),
  ])
}
