import type { PlanEntry } from './protocol.ts'

/** The steps of a plan: the items of its lists that are not indented; without lists, the plan as a whole. */
export function toPlanEntries(plan: string): PlanEntry[] {
  const steps = [...plan.matchAll(/^(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?(.+)$/gm)].map(([, step = '']) => step.trim())
  return (steps.length > 0 ? steps : [plan.trim()]).map((content) => ({
    content,
    priority: 'medium',
    status: 'pending',
  }))
}
