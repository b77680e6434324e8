import type { CallState } from '../../agent/calls/call-state.ts'
import { isFinishedCall } from '../../agent/calls/schedule.ts'
import type { RunEvent } from '../../agent/loop/run-event.ts'
import type { JsonObject } from '../../model/json.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'

/** Counts what a run used and did. */
export function createRunStats(now: () => number = Date.now) {
  const started = now()
  const tools = new Map<string, { count: number; success: number; ms: number }>()
  let model = ''
  let usage: Usage = NO_USAGE
  let cost: number | undefined
  let requests = 0
  const subagents: JsonObject[] = []

  function countCall(call: CallState): void {
    if (!isFinishedCall(call)) return
    const toolStats = tools.get(call.call.name) ?? { count: 0, success: 0, ms: 0 }
    toolStats.count++
    if (call.status === 'success') toolStats.success++
    toolStats.ms += call.ms
    tools.set(call.call.name, toolStats)
  }

  return {
    onEvent(event: RunEvent): void {
      if (event.type === 'run-open') model = event.model
      else if (event.type === 'turn' && event.event.type === 'finish') requests++
      else if (event.type === 'budget') ({ usage, cost } = event)
      else if (event.type === 'call') countCall(event.call)
      else if (event.type === 'subagent' && event.event.type === 'run-close') subagents.push(describeSubagent(event))
      else if (event.type === 'run-close') ({ usage, cost } = event)
    },
    toJson(): JsonObject {
      const input = usage.input + usage.cacheRead + usage.cacheWrite
      const output = usage.output + usage.reasoning
      const tokens = {
        total_tokens: input + output,
        input_tokens: input,
        output_tokens: output,
        cached: usage.cacheRead,
      }
      return {
        ...tokens,
        input: usage.input,
        duration_ms: now() - started,
        tool_calls: [...tools.values()].reduce((sum, tool) => sum + tool.count, 0),
        requests,
        usage: { ...usage },
        // An unknown price is not 0.
        cost_usd: cost ?? null,
        models: model === '' ? {} : { [model]: tokens },
        tools: Object.fromEntries([...tools].map(([name, tool]) => [name, { ...tool }])),
        ...(subagents.length > 0 && { subagents }),
      }
    },
  }
}

function describeSubagent({ session, name, call, event }: Extract<RunEvent, { type: 'subagent' }>): JsonObject {
  if (event.type !== 'run-close') return {}
  const { reason, turns, usage, cost } = event
  return {
    session_id: session,
    agent: name,
    tool_id: call,
    reason,
    requests: turns,
    usage: { ...usage },
    cost_usd: cost ?? null,
  }
}
