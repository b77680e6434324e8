import type { Tool } from '../tool.ts'
import text from './exit-plan-mode.md'
import { defineBuiltin } from './support/define-builtin.ts'
import { getTextArgument } from './support/read-arguments.ts'

/** Presents a plan. Whether plan mode ends is decided by the user's answer, not here. */
export function createExitPlanModeTool(): Tool {
  return defineBuiltin({
    name: 'exit_plan_mode',
    text,
    kind: 'other',
    hookName: 'ExitPlanMode',
    properties: { plan: { type: 'string', description: 'The plan, in Markdown: what you would do, step by step.' } },
    required: ['plan'],
    effects: () => [{ kind: 'plan' }],
    check: (input) => (getTextArgument(input, 'plan').trim() === '' ? 'plan must not be empty.' : undefined),
    preview: (input) => Promise.resolve({ kind: 'plan', title: 'The plan', plan: getTextArgument(input, 'plan') }),

    run(input, { modified }) {
      const content = modified
        ? `The user edited the plan and approved it. Plan mode is off; carry out this plan:\n\n${getTextArgument(input, 'plan')}`
        : 'The user approved the plan. Plan mode is off; carry it out.'
      const title = modified ? 'Plan approved as edited' : 'Plan approved'
      return Promise.resolve({ content, display: { title, markdown: getTextArgument(input, 'plan') } })
    },
  })
}
