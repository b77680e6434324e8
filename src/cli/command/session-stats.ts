import type { JsonObject } from '../../model/json.ts'
import { addUsage, NO_USAGE, type Usage } from '../../model/usage.ts'
import type { Entry } from '../../session/entry.ts'

/** What a session used and did, counted from its log. */
export function sessionStats(entries: readonly Entry[]): JsonObject {
  let usage: Usage = NO_USAGE
  const models: Record<string, number> = {}
  const tools: Record<string, { count: number; failed: number; ms: number }> = {}
  let [turns, prompts, added, removed] = [0, 0, 0, 0]
  for (const entry of entries) {
    if (entry.kind === 'user') prompts++
    if (entry.kind === 'turn') {
      turns++
      if (entry.turn.usage) usage = addUsage(usage, entry.turn.usage)
      const name = `${entry.turn.origin.provider}/${entry.turn.origin.model}`
      models[name] = (models[name] ?? 0) + 1
    }
    if (entry.kind !== 'result') continue
    const tool = (tools[entry.result.name] ??= { count: 0, failed: 0, ms: 0 })
    tool.count++
    tool.ms += entry.ms
    if (entry.result.status !== 'ok') tool.failed++
    added += Number(entry.facts?.['ai_added_lines'] ?? 0)
    removed += Number(entry.facts?.['ai_removed_lines'] ?? 0)
  }
  const [first, last] = [entries[0], entries.at(-1)]
  return {
    prompts,
    turns,
    duration_ms: (last?.at ?? 0) - (first?.at ?? 0),
    usage: { ...usage },
    models,
    tools: Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, { ...tool }])),
    lines: { added, removed },
  }
}
