import { sanitizeQuestion, sanitizeText } from '../../../policy/text/sanitize.ts'
import type { LoggedApprovalRequest } from '../../../session/open-calls.ts'
import type { ApprovalDetails } from '../../../tool/tool.ts'
import { formatApprovalBody, formatApprovalTitle, describeSandboxNeeds } from '../../tui/view/approval-question.ts'

/** The whole request, as the terminal asks it: nothing is masked or shortened. */
export function formatApprovalRequest({ details: logged }: LoggedApprovalRequest): string {
  const details = logged as unknown as ApprovalDetails
  const body = formatApprovalBody(details)
  const text = details.kind === 'edit' ? sanitizeText(body, 'diff') : sanitizeQuestion(body, { reveal: true }).text
  const needs = describeSandboxNeeds(details)
  const note = needs === undefined ? '' : `${sanitizeText(needs, 'file-name')}\n`
  const title = sanitizeText(formatApprovalTitle(details, undefined), 'file-name')
  return `${title}\n${text.replace(/\n$/, '').replace(/^/gm, '│ ')}\n${note}`
}
