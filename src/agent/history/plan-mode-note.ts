import { findFirstKeptSeq } from '../../session/derive-model-history.ts'
import type { Session } from '../../session/session.ts'
import type { AgentContext } from '../agent-context.ts'

/** The note that plan mode was switched on or off, if the model does not know yet. The system prompt stays the same. */
export function createPlanModeNote({ mode }: Pick<AgentContext, 'mode'>, isAnnounced: boolean) {
  const isOn = mode?.get() === 'plan'
  if (isOn === isAnnounced) return undefined
  return { kind: 'note', text: isOn ? PLAN_MODE_ON_TEXT : PLAN_MODE_OFF_TEXT, plan: isOn } as const
}

/** Does the history that the model gets say that plan mode is on? A summary may have replaced the note. */
export function isPlanModeAnnounced({ entries }: Session): boolean {
  const firstKept = findFirstKeptSeq(entries)
  const notes = entries.filter((entry) => entry.kind === 'note')
  return notes.findLast(({ plan, seq }) => plan !== undefined && seq >= firstKept)?.plan === true
}

const PLAN_MODE_ON_TEXT = `Plan mode is on. Do not change anything: only tools and commands that read are allowed, all others are denied. Explore, then call exit_plan_mode with a plan that says what you would change, where, and how you would test it. The user approves, edits or refuses it.`

const PLAN_MODE_OFF_TEXT = 'Plan mode is off. You may now make changes, as far as the user allows them.'
