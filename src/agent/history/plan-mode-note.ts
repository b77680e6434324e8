import type { Session } from '../../session/session.ts'
import type { Agent } from '../agent.ts'

/**
 * What the model must be told about plan mode before the next request: that it is on, or that it is over; nothing if it knows.
 * It is a note in the order of time, so that the system prompt stays the same.
 */
export function createPlanModeNote({ mode }: Pick<Agent, 'mode'>, isAnnounced: boolean): PlanModeNote | undefined {
  const isOn = mode?.get() === 'plan'
  if (isOn === isAnnounced) return undefined
  return { kind: 'note', text: isOn ? PLAN_MODE_ON_TEXT : PLAN_MODE_OFF_TEXT, plan: isOn }
}

interface PlanModeNote {
  readonly kind: 'note'
  readonly text: string
  readonly plan: boolean
}

/** Does the history, as the model sees it, say that plan mode is on? A summary may have taken the place of the note. */
export function isPlanModeAnnounced({ entries }: Session): boolean {
  const summary = entries.findLast((entry) => entry.kind === 'compact')
  const firstVisibleSeq = summary?.kind === 'compact' ? summary.keep : 0
  const note = entries.findLast(
    (entry) => entry.kind === 'note' && entry.plan !== undefined && entry.seq >= firstVisibleSeq,
  )
  return note?.kind === 'note' && note.plan === true
}

const PLAN_MODE_ON_TEXT = `Plan mode is on. Do not change anything: tools and commands that only look run, all others are refused. Look around, then call exit_plan_mode with a plan that says what you would change, where, and how it is tested. The person approves it, edits it or refuses it.`

const PLAN_MODE_OFF_TEXT = 'Plan mode is off: from now on you may change things, as far as the person allows it.'
