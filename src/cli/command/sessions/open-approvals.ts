import { sanitizeQuestion, sanitizeText } from '../../../policy/text/sanitize.ts'
import type { Entry } from '../../../session/log/entry.ts'
import { findOpenCalls } from '../../../session/open-calls.ts'
import type { SessionContents } from '../../../session/store/store.ts'
import type { ApprovalDetails } from '../../../tool/tool.ts'

export type LoggedApprovalRequest = Extract<Entry, { kind: 'ask' }>

/** The open approval requests of a session, oldest first. */
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

/** The whole request: nothing is masked or shortened. */
export function formatApprovalRequest({ details: logged }: LoggedApprovalRequest): string {
  const details = logged as unknown as ApprovalDetails
  const quote = (text: string): string => text.replace(/\n$/, '').replace(/^/gm, '│ ')
  const quoteRevealed = (text: string): string => quote(sanitizeQuestion(text, { reveal: true }).text)
  const name = (text: string): string => sanitizeText(text, 'file-name')
  switch (details.kind) {
    case 'exec': {
      const networkNote = details.isOffline ? 'It needs network access, which the sandbox blocks.\n' : ''
      return `Run this in ${name(details.folder)}?\n${quoteRevealed(details.command)}\n${networkNote}`
    }
    case 'edit':
      return `Change ${name(details.filePath)}?\n${quote(sanitizeText(details.fileDiff, 'diff'))}\n`
    case 'plan':
      return `Carry out this plan?\n${quoteRevealed(details.plan)}\n`
    case 'info':
      return `${name(details.title)}?\n${quoteRevealed([details.prompt, ...(details.urls ?? [])].join('\n'))}\n`
    case 'sandbox':
      return `${name(details.title)}\n${quoteRevealed(details.command)}\n`
    case 'mcp': {
      const { toolName, serverName, input = '', changes } = details
      const changeNote =
        changes === undefined ? '' : `It has changed since you allowed it:\n${quoteRevealed(changes)}\n`
      return `Call ${name(toolName)} of the server ${name(serverName)}?\n${changeNote}${quoteRevealed(input)}\n`
    }
    default:
      return details satisfies never
  }
}
