import { sanitizeQuestion, sanitizeText } from '../../../policy/text/sanitize.ts'
import type { Entry } from '../../../session/log/entry.ts'
import { findOpenCalls } from '../../../session/open-calls.ts'
import type { SessionContents } from '../../../session/store/store.ts'
import type { ApprovalDetails } from '../../../tool/tool.ts'

/** A question in a log. */
export type LoggedApprovalRequest = Extract<Entry, { kind: 'ask' }>

/** The questions of a session that nobody has answered, the oldest first. */
export function findOpenApprovals(
  log: Pick<SessionContents, 'entries' | 'uncertainUpTo'>,
): readonly LoggedApprovalRequest[] {
  const { entries } = log
  const open = new Set(findOpenCalls(log).flatMap(({ call, hasStarted }) => (hasStarted ? [] : [call.id])))
  const answered = new Set(entries.flatMap((entry) => (entry.kind === 'reply' ? [entry.ask] : [])))
  return entries.filter(
    (entry) => entry.kind === 'ask' && open.has(entry.call) && !answered.has(entry.ask),
  ) as LoggedApprovalRequest[]
}

/** A question whole: nothing of what would happen is masked, shortened or left out. */
export function formatApprovalRequest({ details: logged }: LoggedApprovalRequest): string {
  const details = logged as unknown as ApprovalDetails
  const quote = (text: string): string => text.replace(/\n$/, '').replace(/^/gm, '│ ')
  const quoteRevealed = (text: string): string => quote(sanitizeQuestion(text, { reveal: true }).text)
  const name = (text: string): string => sanitizeText(text, 'file-name')
  if (details.kind === 'exec') {
    const networkNote = details.isOffline ? 'It needs the network, which the sandbox closes to it.\n' : ''
    return `Run this in ${name(details.folder)}?\n${quoteRevealed(details.command)}\n${networkNote}`
  }
  if (details.kind === 'edit')
    return `Change ${name(details.filePath)}?\n${quote(sanitizeText(details.fileDiff, 'diff'))}\n`
  if (details.kind === 'plan') return `Carry out this plan?\n${quoteRevealed(details.plan)}\n`
  if (details.kind === 'info')
    return `${name(details.title)}?\n${quoteRevealed([details.prompt, ...(details.urls ?? [])].join('\n'))}\n`
  if (details.kind === 'sandbox') return `${name(details.title)}\n${quoteRevealed(details.command)}\n`
  const { toolName, serverName, input = '', changes } = details
  const changeNote = changes === undefined ? '' : `It has changed since you allowed it:\n${quoteRevealed(changes)}\n`
  return `Call ${name(toolName)} of the server ${name(serverName)}?\n${changeNote}${quoteRevealed(input)}\n`
}
