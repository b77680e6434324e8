import type { Todo } from '../tool/builtin/write-todos.ts'
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

/** The list of steps of the model. The protocol has no word for a step that was given up. */
export function toTodoEntries(todos: readonly Todo[]): PlanEntry[] {
  return todos.flatMap(({ description, status }) =>
    status === 'cancelled' ? [] : [{ content: description, priority: 'medium', status }],
  )
}
