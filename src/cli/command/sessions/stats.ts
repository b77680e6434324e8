import { isNonZeroExit } from '../../../agent/calls/call-state.ts'
import type { Json, JsonObject } from '../../../model/json.ts'
import { addUsage, NO_USAGE, type Usage, parseUsage } from '../../../model/usage.ts'
import type { Catalog } from '../../../provider/catalog.ts'
import type { ResultPart } from '../../../model/turn.ts'
import type { Entry } from '../../../session/log/entry.ts'

/** The statistics of a session. A cost in US dollars is null if a price is unknown. */
export interface SessionStats {
  readonly prompts: number
  /** How many subagents worked for it. What they used is counted. */
  readonly subagents?: number
  readonly turns: number
  readonly requests: number
  /** Failed attempts, and unusable answers. */
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

type ToolStats = Readonly<Record<'count' | ToolOutcome | 'ms', number>> & { readonly lines: LineCounts }

type ToolOutcome = 'ok' | 'failed' | 'denied' | 'cancelled'

/** Lines of files, by who wrote them. */
type LineCounts = Readonly<Record<'model_added' | 'model_removed' | 'person_added' | 'person_removed', number>>

/** What the subagents of the session used counts, too; their logs are `subagentLogs`. */
export function computeSessionStats(
  entries: readonly Entry[],
  catalog: Pick<Catalog, 'cost'>,
  subagentLogs: readonly (readonly Entry[])[] = [],
): SessionStats {
  const models: Record<string, ModelStats> = {}
  const tools: Record<string, ToolStats> = {}
  let [prompts, turns, requests, faults] = [0, 0, 0, 0]
  let requestedModel = ''
  const isOwn = new Set(entries)

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

  for (const entry of [...entries, ...subagentLogs.flat()]) {
    if (entry.kind === 'open') requestedModel = ''
    // The tasks of subagents are no prompts of the user.
    if (entry.kind === 'user' && isOwn.has(entry)) prompts++
    else if (entry.kind === 'request') {
      requests++
      requestedModel = entry.model
    } else if (entry.kind === 'turn') {
      turns++
      const { origin, usage } = entry.turn
      recordUsage(`${origin.provider}/${origin.model}`, usage, entry.ms, 1)
    } else if (entry.kind === 'fault' || entry.kind === 'compact') {
      if (entry.kind === 'fault') faults++
      const usage = parseUsage(entry.usage)
      if (usage) recordUsage(requestedModel, usage, entry.kind === 'compact' ? (entry.ms ?? 0) : 0, 0)
    } else if (entry.kind === 'result') {
      const { name, status } = entry.result
      const finalStatus = status === 'ok' && isNonZeroExit(entry.facts) ? 'error' : status
      tools[name] = addToolUse(tools[name] ?? EMPTY_TOOL_STATS, finalStatus, entry.ms, entry.facts)
    }
  }
  const [byModel, byTool] = [Object.values(models), Object.values(tools)]
  return {
    prompts,
    ...(subagentLogs.length > 0 && { subagents: subagentLogs.length }),
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

const EMPTY_TOOL_STATS = { count: 0, ok: 0, failed: 0, denied: 0, cancelled: 0, ms: 0, lines: NO_LINE_COUNTS }

const OUTCOME_BY_STATUS: Readonly<Record<ResultPart['status'], ToolOutcome>> = {
  ok: 'ok',
  error: 'failed',
  denied: 'denied',
  cancelled: 'cancelled',
  interrupted: 'cancelled',
}

function addToolUse(tool: ToolStats, status: ResultPart['status'], ms: number, facts: JsonObject = {}): ToolStats {
  const outcome = OUTCOME_BY_STATUS[status]
  return {
    ...tool,
    count: tool.count + 1,
    [outcome]: tool[outcome] + 1,
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
  const keys = Object.keys(one) as (keyof LineCounts)[]
  return Object.fromEntries(keys.map((key) => [key, one[key] + other[key]])) as LineCounts
}

/** A provider may answer under another model name than was requested; either may have a price. */
function findCost(catalog: Pick<Catalog, 'cost'>, names: readonly string[], usage: Usage): number | null {
  for (const name of names) {
    const slash = name.indexOf('/')
    const cost = catalog.cost({ provider: name.slice(0, slash), model: name.slice(slash + 1) }, usage)
    if (cost !== undefined) return cost
  }
  return null
}

/** An unknown cost makes the sum unknown. */
function addCosts(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other
}

function toCount(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
