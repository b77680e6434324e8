import { sanitizeQuestion, sanitizeText } from '../../../policy/text/sanitize.ts'
import type { Entry } from '../../../session/log/entry.ts'
import { findOpenCalls } from '../../../session/open-calls.ts'
import type { SessionContents } from '../../../session/store/store.ts'
import type { ApprovalDetails } from '../../../tool/tool.ts'
import { formatApprovalBody, formatApprovalTitle, OFFLINE_NOTE } from '../../tui/view/approval-question.ts'

export type LoggedApprovalRequest = Extract<Entry, { kind: 'ask' }>

/** The open approval requests of a session, oldest first. */
export function findOpenApprovals(log: Pick<SessionContents, 'entries' | 'uncertainUpTo'>) {
  const { entries } = log
  const open = new Set(findOpenCalls(log).flatMap(({ call, hasStarted }) => (hasStarted ? [] : [call.id])))
  const answered = new Set(entries.flatMap((entry) => (entry.kind === 'reply' ? [entry.ask] : [])))
  return entries.filter(
    (entry) => entry.kind === 'ask' && open.has(entry.call) && !answered.has(entry.ask),
  ) as LoggedApprovalRequest[]
}

/** The whole request, as the terminal asks it: nothing is masked or shortened. */
export function formatApprovalRequest({ details: logged }: LoggedApprovalRequest): string {
  const details = logged as unknown as ApprovalDetails
  const body = formatApprovalBody(details)
  const text = details.kind === 'edit' ? sanitizeText(body, 'diff') : sanitizeQuestion(body, { reveal: true }).text
  const note = details.kind === 'exec' && details.isOffline ? `${OFFLINE_NOTE}\n` : ''
  const title = sanitizeText(formatApprovalTitle(details, undefined), 'file-name')
  return `${title}\n${text.replace(/\n$/, '').replace(/^/gm, '│ ')}\n${note}`
}
