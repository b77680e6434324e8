import { joinTextParts } from '../model/text.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'
import type { Fault } from '../model/fault.ts'
import type { ModelOrigin } from '../model/turn.ts'
import type { Entry } from '../session/log/entry.ts'
import { defined } from '../model/defined.ts'
import type { SessionContents } from '../session/store/store.ts'
import { getProgress, toFault } from './worker/session-progress.ts'

/** How far the work on a prompt is, and what came of it. */
export interface PromptResult {
  readonly state: 'queued' | 'running' | 'waiting' | 'ended'
  /** Why it ended, such as `done`, `cancelled` or `fault`. */
  readonly reason?: string
  /** The text of the last response. */
  readonly text: string
  readonly turns: number
  readonly usage: Usage
  /** In US dollars, if the prices are known. */
  readonly cost?: number
  readonly fault?: Fault
}

/** The prompt with this message, from the entries after it up to the end of its run. Undefined if it is not in the log. */
export function findPromptResult(
  contents: Pick<SessionContents, 'entries' | 'uncertainUpTo'>,
  message: string,
  price: (origin: ModelOrigin, usage: Usage) => number | undefined,
): PromptResult | undefined {
  const { entries } = contents
  const start = entries.findIndex((entry) => entry.kind === 'user' && entry.message === message)
  if (start < 0) return undefined
  const length = entries.slice(start).findIndex(({ kind }) => kind === 'close')
  const own = length < 0 ? entries.slice(start) : entries.slice(start, start + length + 1)
  const end = own.at(-1)
  const turns = own.filter((entry) => entry.kind === 'turn')
  const usages = turns.flatMap(({ turn: { origin, usage } }) => (usage ? [{ origin, usage }] : []))
  const costs = usages.map(({ origin, usage }) => price(origin, usage))
  const reason = end?.kind === 'close' ? end.reason : undefined
  return {
    state: reason === undefined ? getOpenState(contents) : 'ended',
    ...defined({ reason }),
    text: joinTextParts(turns.at(-1)?.turn.parts ?? []),
    turns: turns.length,
    usage: usages.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE),
    ...(costs.length > 0 && costs.every((cost) => cost !== undefined) && { cost: costs.reduce((a, b) => a + b, 0) }),
    ...(reason === 'fault' || reason === 'cost-limit' ? defined({ fault: findLastFault(own) }) : {}),
  }
}

function getOpenState(contents: Pick<SessionContents, 'entries' | 'uncertainUpTo'>): 'running' | 'waiting' {
  return getProgress(contents) === 'waiting' ? 'waiting' : 'running'
}

function findLastFault(entries: readonly Entry[]): Fault | undefined {
  const entry = entries.findLast((one) => one.kind === 'fault')
  return entry && toFault(entry)
}
