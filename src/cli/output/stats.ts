import type { RunEvent } from '../../agent/run-event.ts'
import type { JsonObject } from '../../model/json.ts'
import { addUsage, NO_USAGE, type Usage } from '../../model/usage.ts'

/** Counts what a run used and did. */
export interface Stats {
  count(event: RunEvent): void
  end(): JsonObject
}

/** Starts counting. */
export function startStats(now: () => number = Date.now): Stats {
  const started = now()
  const tools = new Map<string, { count: number; success: number; ms: number }>()
  let model = ''
  let usage: Usage = NO_USAGE
  let cost: number | undefined
  let requests = 0

  return {
    count(event) {
      if (event.type === 'run-open') model = event.model
      else if (event.type === 'turn' && event.event.type === 'finish') requests++
      else if (event.type === 'budget') ({ usage, cost } = event)
      else if (
        event.type === 'call' &&
        (event.call.status === 'success' || event.call.status === 'error' || event.call.status === 'cancelled')
      ) {
        const seen = tools.get(event.call.call.name) ?? { count: 0, success: 0, ms: 0 }
        seen.count++
        if (event.call.status === 'success') seen.success++
        seen.ms += event.call.ms
        tools.set(event.call.call.name, seen)
      }
    },
    end() {
      const cached = usage.cacheRead
      const input = usage.input + usage.cacheRead + usage.cacheWrite
      const output = usage.output + usage.reasoning
      const calls = [...tools.values()].reduce((sum, tool) => sum + tool.count, 0)
      const whole = addUsage(usage, NO_USAGE)
      return {
        total_tokens: input + output,
        input_tokens: input,
        output_tokens: output,
        cached,
        input: usage.input,
        duration_ms: now() - started,
        tool_calls: calls,
        requests,
        usage: { ...whole },
        // A price that is not known is not nothing.
        cost_usd: cost ?? null,
        models:
          model === ''
            ? {}
            : { [model]: { total_tokens: input + output, input_tokens: input, output_tokens: output, cached } },
        tools: Object.fromEntries([...tools].map(([name, tool]) => [name, { ...tool }])),
      }
    },
  }
}
