import type { RunEvent } from '../../agent/loop/run-event.ts'
import { formatResultText, joinTextParts } from '../../model/text.ts'
import { sumTokens } from '../../model/usage.ts'
import { formatDollars, formatNumber } from '../output/format.ts'

/** What a subagent that works has done so far. Texts are unescaped. */
export interface SubagentActivity {
  readonly session: string
  readonly call: string
  readonly name: string
  /** A line for each call, answer and message; the latest are last. */
  readonly lines: readonly string[]
  readonly callCount: number
  readonly usage: string
}

type SubagentEvent = Extract<RunEvent, { type: 'subagent' }>

/** The subagents that work, after an event of one of them. */
export function updateActivities(
  all: readonly SubagentActivity[],
  { session, call, name, event }: SubagentEvent,
): readonly SubagentActivity[] {
  const others = all.filter((one) => one.session !== session)
  if (event.type === 'run-close') return others
  const before = all.find((one) => one.session === session) ?? { ...EMPTY_ACTIVITY, session, call, name }
  const next = applyEvent(before, event)
  if (next === before && all.includes(before)) return all
  return all.map((one) => (one.session === session ? next : one)).concat(all.includes(before) ? [] : [next])
}

const EMPTY_ACTIVITY = { lines: [], callCount: 0, usage: '' }

function applyEvent(activity: SubagentActivity, event: RunEvent): SubagentActivity {
  const addLines = (text: string): SubagentActivity => ({
    ...activity,
    lines: [...activity.lines, ...text.split('\n')].slice(-MAX_LINES),
  })
  if (event.type === 'call') {
    const { call } = event
    const { name, raw } = call.call
    if (call.status === 'executing')
      return { ...addLines(`● ${name} ${toOneLine(raw)}`), callCount: activity.callCount + 1 }
    if (call.status === 'awaiting-approval') return addLines(`? ${name} waits for approval`)
    return call.status === 'error' ? addLines(`✗ ${name}: ${toOneLine(formatResultText(call.result))}`) : activity
  }
  if (event.type === 'entry' && event.entry.kind === 'turn') {
    const text = joinTextParts(event.entry.turn.parts).trim()
    return text === '' ? activity : addLines(text)
  }
  if (event.type === 'notice') return addLines(event.text)
  if (event.type !== 'budget') return activity
  const cost = event.cost === undefined ? '' : ` · ${formatDollars(event.cost)}`
  return { ...activity, usage: `${formatNumber(sumTokens(event.usage))} tokens${cost}` }
}

const MAX_LINES = 500
const MAX_LINE_CHARS = 300

function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, MAX_LINE_CHARS)
}

/** The last lines and the figures, for the line of a call that runs. */
export function summarizeActivity({ lines, callCount, usage }: SubagentActivity): string {
  const figures = [`${callCount} ${callCount === 1 ? 'call' : 'calls'}`, usage].filter((part) => part !== '')
  return [...lines.slice(-MAX_TAIL_LINES), `${figures.join(' · ')} (Ctrl-O shows all)`].join('\n')
}

const MAX_TAIL_LINES = 2
