import { filterObjects, nonBlankString, stringOrEmpty } from '../../model/json.ts'
import { defined } from '../../model/defined.ts'
import type { ApprovalDetails, QuestionOption, Tool } from '../tool.ts'
import text from './ask-user.md'
import { createSimilarToolAliases, defineBuiltin } from './support/define-builtin.ts'
import { getTextArgument } from './support/read-arguments.ts'
import { createErrorOutput } from '../error-output.ts'

/** Asks the user. The answer is the reply to the question, so that the tool itself never runs. */
export const askUserTool: Tool = defineBuiltin({
  name: 'ask_user',
  text,
  kind: 'other',
  nameAliases: createSimilarToolAliases('AskUserQuestion', 'request_user_input'),
  properties: {
    question: { type: 'string', description: 'The question, in full.' },
    options: {
      type: 'array',
      description: 'The answers to choose from.',
      items: {
        type: 'object',
        properties: {
          label: { type: 'string', description: 'The answer, in a few words.' },
          description: { type: 'string', description: 'What it means.' },
        },
        required: ['label'],
      },
    },
  },
  required: ['question'],
  effects: () => [{ kind: 'question' }],
  check(input) {
    if (getTextArgument(input, 'question').trim() === '') return 'question must not be empty.'
    const options = filterObjects(input['options'])
    if (options.length > MAX_OPTIONS) return `There may be at most ${MAX_OPTIONS} options.`
    return options.some(({ label }) => stringOrEmpty(label).trim() === '') ? 'An option has an empty label.' : undefined
  },
  preview(input) {
    const options = filterObjects(input['options']).map((option): QuestionOption => ({
      label: stringOrEmpty(option['label']).trim(),
      ...defined({ about: nonBlankString(option['description']) }),
    }))
    const question = getTextArgument(input, 'question').trim()
    const details: ApprovalDetails = { kind: 'question', title: 'The model asks', question, options }
    return Promise.resolve(details)
  },
  run: () => Promise.resolve(createErrorOutput('The question was not asked.', 'not-run')),
})

/** Each has a number key. */
const MAX_OPTIONS = 9
