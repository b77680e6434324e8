import type { ApprovalDetails } from '../../../tool/tool.ts'
import { countDiffLines } from './diff.ts'
import { toRootRelativePath } from './display-path.ts'

export const OFFLINE_NOTE = 'It needs network access, which the sandbox blocks.'

/** The question in one line, unescaped. */
export function formatApprovalTitle(details: ApprovalDetails, root: string | undefined): string {
  switch (details.kind) {
    case 'edit': {
      const { added, removed } = countDiffLines(details.fileDiff)
      const verb = details.originalContent === null ? 'Create' : 'Change'
      return `${verb} ${toRootRelativePath(root, details.filePath)}? +${added} −${removed}`
    }
    case 'exec': {
      const folder = toRootRelativePath(root, details.folder)
      return folder === '.' ? 'Run this?' : `Run this in ${folder}?`
    }
    case 'plan':
      return 'Carry out this plan?'
    case 'mcp':
      return `Call ${details.toolDisplayName} of the server ${details.serverName}?`
    case 'sandbox':
    case 'info':
      return details.title
    default:
      return details satisfies never
  }
}

/** What the call would do, in full and unescaped: the user must be able to see all of it. */
export function formatApprovalBody(details: ApprovalDetails): string {
  switch (details.kind) {
    case 'edit':
      return details.fileDiff
    case 'exec':
    case 'sandbox':
      return details.command
    case 'plan':
      return details.plan
    case 'info':
      return [details.prompt, ...(details.urls ?? [])].join('\n')
    case 'mcp': {
      const { toolName, input = '', changes } = details
      const changeNotes = changes === undefined ? [] : ['It has changed since you allowed it:', changes, '']
      return [...changeNotes, `${toolName} ${input}`].join('\n')
    }
    default:
      return details satisfies never
  }
}
