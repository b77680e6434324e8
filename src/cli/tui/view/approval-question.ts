import type { ApprovalDetails, QuestionOption } from '../../../tool/tool.ts'
import { countDiffLines } from './diff.ts'
import { toRootRelativePath } from './display-path.ts'

/** What the sandbox means for a command that is asked about. */
export function describeSandboxNeeds(details: ApprovalDetails): string | undefined {
  if (details.kind !== 'exec') return undefined
  const { isOffline, outsidePaths, createsTemporary } = details
  if (outsidePaths) return `It runs outside the sandbox, because it changes ${formatPaths(outsidePaths)}.`
  const notes = [
    isOffline && 'It needs network access, which the sandbox blocks.',
    createsTemporary && 'The sandbox has a /tmp of its own: only commands of this session see its files.',
  ]
  return notes.filter(Boolean).join(' ') || undefined
}

function formatPaths(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_SHOWN_PATHS).join(', ')
  return paths.length > MAX_SHOWN_PATHS ? `${shown} and ${paths.length - MAX_SHOWN_PATHS} more paths` : shown
}

const MAX_SHOWN_PATHS = 5

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
    case 'question':
      return 'The model asks:'
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
    case 'question':
      return [details.question, ...details.options.map(formatOption)].join('\n')
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

function formatOption({ label, about }: QuestionOption, at: number): string {
  return `  ${at + 1}. ${label}${about === undefined ? '' : `: ${about.replaceAll(/\s+/g, ' ')}`}`
}
