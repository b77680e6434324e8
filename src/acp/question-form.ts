import type { ApprovalReply } from '../agent/calls/call-state.ts'
import { isObject, nonBlankString } from '../model/json.ts'
import { sanitizeText } from '../policy/text/sanitize.ts'
import type { ApprovalDetails } from '../tool/tool.ts'
import type { CreateElicitationResponse, ElicitationSchema } from './protocol.ts'

type Question = Extract<ApprovalDetails, { readonly kind: 'question' }>

/** A question of the model as a form: its options, and a field for the user's own words. */
export function toQuestionForm({ options }: Question): ElicitationSchema {
  if (options.length === 0)
    return { type: 'object', properties: { answer: { type: 'string', title: 'Answer' } }, required: ['answer'] }
  const choices = options.map(({ label, about }) => ({
    const: label,
    title: sanitizeText(about === undefined ? label : `${label}: ${about}`, 'file-name'),
  }))
  return {
    type: 'object',
    properties: {
      choice: { type: 'string', title: 'Choose', oneOf: choices },
      answer: { type: 'string', title: 'Or another answer' },
    },
  }
}

/** The words of the user count before the choice. */
export function readFormAnswer(response: CreateElicitationResponse): Omit<ApprovalReply, 'ask'> {
  const content = response.action === 'accept' && 'content' in response ? response.content : undefined
  const { answer, choice } = isObject(content) ? content : {}
  const words = nonBlankString(answer) ?? nonBlankString(choice)
  return words === undefined ? { outcome: 'cancel' } : { outcome: 'proceed-once', words }
}
