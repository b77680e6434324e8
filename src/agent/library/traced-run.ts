import type { UserTurn } from '../../model/turn.ts'
import type { AgentContext } from '../agent-context.ts'
import type { RunEvent } from '../loop/run-event.ts'
import { run } from '../loop/run.ts'
import type { AgentOptions } from './agent-options.ts'

/** A run, with spans if the agent has a tracer. */
export async function* runTraced(
  context: AgentContext,
  parts: UserTurn['parts'] | undefined,
  signal: AbortSignal,
  telemetry: AgentOptions['telemetry'],
): AsyncGenerator<RunEvent> {
  const tracer = telemetry && (await import('../telemetry/trace-run.ts')).traceRun(telemetry.tracer, telemetry)
  const traced = tracer ? { ...context, traceToolRun: tracer.runTool } : context
  for await (const event of run(traced, parts, signal)) {
    tracer?.onEvent(event)
    yield event
  }
}
