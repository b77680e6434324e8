import { isNonZeroExit } from '../../../agent/calls/call-state.ts'
import type { Json, JsonObject } from '../../../model/json.ts'
import { addUsage, NO_USAGE, type Usage, parseUsage } from '../../../model/usage.ts'
import type { Catalog } from '../../../provider/catalog.ts'
import type { Entry } from '../../../session/log/entry.ts'

/** What a session used and did. Money is in US dollars; null where a price is not known. */
export interface SessionStats {
  readonly prompts: number
  readonly turns: number
  readonly requests: number
  /** Attempts that failed, and answers that could not be used. */
  readonly faults: number
  readonly duration_ms: number
  readonly api_ms: number
  readonly tool_ms: number
  readonly usage: Usage
  readonly cost_usd: number | null
  readonly models: Readonly<Record<string, ModelStats>>
  readonly tools: Readonly<Record<string, ToolStats>>
  readonly lines: LineCounts
}

interface ModelStats {
  readonly turns: number
  readonly api_ms: number
  readonly usage: Usage
  readonly cost_usd: number | null
}

interface ToolStats {
  readonly count: number
  readonly ok: number
  readonly failed: number
  readonly denied: number
  readonly cancelled: number
  readonly ms: number
  readonly lines: LineCounts
}

/** Lines of files, by who wrote them. */
interface LineCounts {
  readonly model_added: number
  readonly model_removed: number
  readonly person_added: number
  readonly person_removed: number
}

/** Counts a session from its log. */
export function computeSessionStats(entries: readonly Entry[], catalog: Pick<Catalog, 'cost'>): SessionStats {
  const models: Record<string, ModelStats> = {}
  const tools: Record<string, ToolStats> = {}
  let [prompts, turns, requests, faults] = [0, 0, 0, 0]
  let requestedModel = ''

  const recordUsage = (name: string, usage: Usage | undefined, ms: number, turnCount: number): void => {
    const previous = models[name] ?? { turns: 0, api_ms: 0, usage: NO_USAGE, cost_usd: 0 }
    const cost = usage ? findCost(catalog, [name, requestedModel], usage) : 0
    models[name] = {
      turns: previous.turns + turnCount,
      api_ms: previous.api_ms + ms,
      usage: addUsage(previous.usage, usage ?? NO_USAGE),
      cost_usd: addCosts(previous.cost_usd, cost),
    }
  }

  for (const entry of entries) {
    if (entry.kind === 'user') prompts++
    else if (entry.kind === 'request') {
      requests++
      requestedModel = entry.model
    } else if (entry.kind === 'turn') {
      turns++
      const { origin, usage } = entry.turn
      recordUsage(`${origin.provider}/${origin.model}`, usage, entry.ms, 1)
    } else if (entry.kind === 'fault') {
      faults++
      const usage = parseUsage(entry.usage)
      if (usage) recordUsage(requestedModel, usage, 0, 0)
    } else if (entry.kind === 'compact') {
      const usage = parseUsage(entry.usage)
      if (usage) recordUsage(requestedModel, usage, entry.ms ?? 0, 0)
    } else if (entry.kind === 'result') {
      const { name, status } = entry.result
      const finalStatus = status === 'ok' && isNonZeroExit(entry.facts) ? 'error' : status
      tools[name] = addToolUse(tools[name] ?? EMPTY_TOOL_STATS, finalStatus, entry.ms, entry.facts)
    }
  }
  const [byModel, byTool] = [Object.values(models), Object.values(tools)]
  return {
    prompts,
    turns,
    requests,
    faults,
    duration_ms: (entries.at(-1)?.at ?? 0) - (entries[0]?.at ?? 0),
    api_ms: byModel.reduce((all, { api_ms: ms }) => all + ms, 0),
    tool_ms: byTool.reduce((all, { ms }) => all + ms, 0),
    usage: byModel.reduce((all, { usage }) => addUsage(all, usage), NO_USAGE),
    cost_usd: byModel.reduce<number | null>((all, { cost_usd: cost }) => addCosts(all, cost), 0),
    models,
    tools,
    lines: byTool.reduce((all, { lines }) => addLineCounts(all, lines), NO_LINE_COUNTS),
  }
}

const NO_LINE_COUNTS: LineCounts = { model_added: 0, model_removed: 0, person_added: 0, person_removed: 0 }

const EMPTY_TOOL_STATS: ToolStats = {
  count: 0,
  ok: 0,
  failed: 0,
  denied: 0,
  cancelled: 0,
  ms: 0,
  lines: NO_LINE_COUNTS,
}

type ResultEntry = Extract<Entry, { kind: 'result' }>

function addToolUse(
  tool: ToolStats,
  status: ResultEntry['result']['status'],
  ms: number,
  facts: JsonObject = {},
): ToolStats {
  const one = (is: boolean) => (is ? 1 : 0)
  return {
    count: tool.count + 1,
    ok: tool.ok + one(status === 'ok'),
    failed: tool.failed + one(status === 'error'),
    denied: tool.denied + one(status === 'denied'),
    cancelled: tool.cancelled + one(status === 'cancelled' || status === 'interrupted'),
    ms: tool.ms + ms,
    lines: addLineCounts(tool.lines, {
      model_added: toCount(facts['ai_added_lines']),
      model_removed: toCount(facts['ai_removed_lines']),
      person_added: toCount(facts['user_added_lines']),
      person_removed: toCount(facts['user_removed_lines']),
    }),
  }
}

function addLineCounts(one: LineCounts, other: LineCounts): LineCounts {
  return {
    model_added: one.model_added + other.model_added,
    model_removed: one.model_removed + other.model_removed,
    person_added: one.person_added + other.person_added,
    person_removed: one.person_removed + other.person_removed,
  }
}

/** Vendors answer under another name than they were asked by; either may be the one that is listed. */
function findCost(catalog: Pick<Catalog, 'cost'>, names: readonly string[], usage: Usage): number | null {
  for (const name of names) {
    const slash = name.indexOf('/')
    const cost = catalog.cost({ provider: name.slice(0, slash), model: name.slice(slash + 1) }, usage)
    if (cost !== undefined) return cost
  }
  return null
}

/** What is not known makes the sum unknown. */
function addCosts(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other
}

function toCount(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
