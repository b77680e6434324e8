import { isNonZeroExit } from '../../agent/call-state.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { addUsage, NO_USAGE, type Usage, usageIn } from '../../model/usage.ts'
import type { Catalog } from '../../provider/catalog.ts'
import type { Entry } from '../../session/entry.ts'

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
  readonly lines: Lines
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
  readonly lines: Lines
}

/** Lines of files, by who wrote them. */
interface Lines {
  readonly model_added: number
  readonly model_removed: number
  readonly person_added: number
  readonly person_removed: number
}

/** Counts a session from its log. */
export function sessionStats(entries: readonly Entry[], catalog: Pick<Catalog, 'cost'>): SessionStats {
  const models: Record<string, ModelStats> = {}
  const tools: Record<string, ToolStats> = {}
  let [prompts, turns, requests, faults] = [0, 0, 0, 0]
  let asked = ''

  const book = (name: string, usage: Usage | undefined, ms: number, answered: number): void => {
    const known = models[name] ?? { turns: 0, api_ms: 0, usage: NO_USAGE, cost_usd: 0 }
    const cost = usage ? priced(catalog, [name, asked], usage) : 0
    models[name] = {
      turns: known.turns + answered,
      api_ms: known.api_ms + ms,
      usage: addUsage(known.usage, usage ?? NO_USAGE),
      cost_usd: sum(known.cost_usd, cost),
    }
  }

  for (const entry of entries) {
    if (entry.kind === 'user') prompts++
    else if (entry.kind === 'request') {
      requests++
      asked = entry.model
    } else if (entry.kind === 'turn') {
      turns++
      const { origin, usage } = entry.turn
      book(`${origin.provider}/${origin.model}`, usage, entry.ms, 1)
    } else if (entry.kind === 'fault') {
      faults++
      const usage = usageIn(entry.usage)
      if (usage) book(asked, usage, 0, 0)
    } else if (entry.kind === 'compact') {
      const usage = usageIn(entry.usage)
      if (usage) book(asked, usage, entry.ms ?? 0, 0)
    } else if (entry.kind === 'result') {
      const { name, status } = entry.result
      const end = status === 'ok' && isNonZeroExit(entry.facts) ? 'error' : status
      tools[name] = used(tools[name] ?? NO_TOOL, end, entry.ms, entry.facts)
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
    cost_usd: byModel.reduce<number | null>((all, { cost_usd: cost }) => sum(all, cost), 0),
    models,
    tools,
    lines: byTool.reduce((all, { lines }) => addLines(all, lines), NO_LINES),
  }
}

const NO_LINES: Lines = { model_added: 0, model_removed: 0, person_added: 0, person_removed: 0 }

const NO_TOOL: ToolStats = { count: 0, ok: 0, failed: 0, denied: 0, cancelled: 0, ms: 0, lines: NO_LINES }

type ResultEntry = Extract<Entry, { kind: 'result' }>

function used(tool: ToolStats, status: ResultEntry['result']['status'], ms: number, facts: JsonObject = {}): ToolStats {
  const one = (is: boolean) => (is ? 1 : 0)
  return {
    count: tool.count + 1,
    ok: tool.ok + one(status === 'ok'),
    failed: tool.failed + one(status === 'error'),
    denied: tool.denied + one(status === 'denied'),
    cancelled: tool.cancelled + one(status === 'cancelled' || status === 'interrupted'),
    ms: tool.ms + ms,
    lines: addLines(tool.lines, {
      model_added: count(facts['ai_added_lines']),
      model_removed: count(facts['ai_removed_lines']),
      person_added: count(facts['user_added_lines']),
      person_removed: count(facts['user_removed_lines']),
    }),
  }
}

function addLines(one: Lines, other: Lines): Lines {
  return {
    model_added: one.model_added + other.model_added,
    model_removed: one.model_removed + other.model_removed,
    person_added: one.person_added + other.person_added,
    person_removed: one.person_removed + other.person_removed,
  }
}

/** Vendors answer under another name than they were asked by; either may be the one that is listed. */
function priced(catalog: Pick<Catalog, 'cost'>, names: readonly string[], usage: Usage): number | null {
  for (const name of names) {
    const slash = name.indexOf('/')
    const cost = catalog.cost({ provider: name.slice(0, slash), model: name.slice(slash + 1) }, usage)
    if (cost !== undefined) return cost
  }
  return null
}

/** What is not known makes the sum unknown. */
function sum(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other
}

function count(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
