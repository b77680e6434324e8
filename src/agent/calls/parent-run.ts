import type { ToolContext } from '../../tool/tool.ts'
import type { AgentContext } from '../agent-context.ts'
import type { RunEvent } from '../loop/run-event.ts'

/** The run that called a tool, for tools that are agents themselves. */
export interface ParentRun {
  readonly agent: AgentContext
  readonly call: string
  readonly onEvent: (event: RunEvent) => void
}

const parentRuns = new WeakMap<ToolContext, ParentRun>()

export function setParentRun(context: ToolContext, run: ParentRun): void {
  parentRuns.set(context, run)
}

/** Undefined if the tool was not called by an agent. */
export function getParentRun(context: ToolContext): ParentRun | undefined {
  return parentRuns.get(context)
}
