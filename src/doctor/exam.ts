import type { TurnEvent, Warning } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import { fold, runnable } from '../model/fold.ts'
import type { Request } from '../model/request.ts'
import { textOf } from '../model/text.ts'
import type { AssistantTurn, CallPart } from '../model/turn.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'
import type { ModelPort } from '../provider/port.ts'
import type { Trace } from './tap.ts'

/** One request to an endpoint, with all that came of it: what it means, and the bytes that it was made of. */
export interface Exam {
  readonly request: Request
  readonly stream: boolean
  readonly turn: AssistantTurn
  readonly text: string
  /** The calls that may run. */
  readonly calls: readonly CallPart[]
  readonly fault: Fault | undefined
  readonly warnings: readonly Warning[]
  /** One for each attempt, the last one last. */
  readonly traces: readonly Trace[]
  /** All attempts together. */
  readonly usage: Usage
}

/** Asks a model once and keeps everything. `watch` sees each event as it comes, and may stop the answer. */
export async function takeExam(
  model: ModelPort,
  request: Request,
  more: { key: string; traces: () => readonly Trace[]; watch?: (event: TurnEvent, stop: () => void) => void },
): Promise<Exam> {
  const stopper = new AbortController()
  const events: TurnEvent[] = []
  for await (const event of model.ask(request, { key: more.key, signal: stopper.signal })) {
    events.push(event)
    more.watch?.(event, () => stopper.abort())
  }
  const { turn, warnings, attempts = [] } = fold(events, model.origin)
  const usages = [...attempts, turn].flatMap(({ usage }) => usage ?? [])
  return {
    request,
    stream: request.params?.stream ?? true,
    turn,
    text: textOf(turn.parts).trim(),
    calls: runnable(turn).calls,
    fault: turn.finish.fault,
    warnings,
    traces: more.traces(),
    usage: usages.reduce(addUsage, NO_USAGE),
  }
}

/** What an answer says and does, without ids and vendor data. */
export function meaning(turn: AssistantTurn): string {
  return JSON.stringify([
    textOf(turn.parts).trim(),
    ...turn.parts.flatMap((part) => (part.kind === 'call' ? [[part.name, part.input ?? part.raw]] : [])),
  ])
}
