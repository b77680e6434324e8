import type { CallDecision } from '../../model/call-decision.ts'

/** A decision about a call, in words. */
export function formatCallDecision(decision: CallDecision): string {
  switch (decision.by) {
    case 'policy':
      return `${decision.outcome} by ${decision.rule}`
    case 'user':
      return decision.outcome === 'modified' ? 'changed and allowed by the user' : `${decision.outcome} by the user`
    case 'earlier-answer':
      return 'allowed by an earlier answer of the user'
    case 'nobody':
      return decision.outcome === 'denied' ? 'denied: nobody to ask' : 'handed over'
    default:
      return decision satisfies never
  }
}
