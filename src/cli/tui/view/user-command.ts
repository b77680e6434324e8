import { escapeForTerminal } from '../../output/escape.ts'
import type { UserCommandBlock, UserCommandEnd } from '../conversation-state.ts'
import { type StyledLine, styledLine, wrapLine } from '../term/styled-line.ts'
import { MAX_OUTPUT_LINES, renderTail } from './call.ts'
import { toSingleRow } from './shorten.ts'

/** A shell command of the user: its last lines while it runs, and all of them when it is over. */
export function renderUserCommand(block: UserCommandBlock, width: number, now: number): StyledLine[] {
  const { command, output, since, end } = block
  const seconds = end === undefined ? Math.floor((now - since) / 1000) : 0
  const head: StyledLine = [
    { text: `! ${toSingleRow(escapeForTerminal(command), width - 10)}`, tone: 'user' },
    { text: seconds >= 1 ? `  ${seconds} s` : '', tone: 'quiet' },
  ]
  if (end === undefined) return [head, ...renderLongTail(output, width)]
  const shown = escapeForTerminal(output.trimEnd(), 'tool-output')
  const rows = shown === '' ? [] : shown.split('\n')
  return [
    head,
    ...rows.flatMap((row) => wrapLine(styledLine(row), width, [{ text: '  ' }])),
    ...[styledLine(escapeForTerminal(describeCommandEnd(end)), 'warn')].filter((line) => line.length > 0),
  ]
}

/** Of a long output only the end is escaped, which is done four times a second. */
function renderLongTail(output: string, width: number): StyledLine[] {
  const from = output.indexOf('\n', Math.max(output.length - MAX_TAIL_CHARS, 0)) + 1
  const rows = renderTail(escapeForTerminal(output.slice(from), 'tool-output'), width)
  return rows.length < MAX_OUTPUT_LINES ? renderTail(escapeForTerminal(output, 'tool-output'), width) : rows
}

const MAX_TAIL_CHARS = 16_000

/** How a command ended; empty if it succeeded. */
export function describeCommandEnd(end: UserCommandEnd): string {
  switch (end.kind) {
    case 'exit':
      return end.code === 0 ? '' : `[exit code ${end.code}]`
    case 'signal':
      return `[ended by signal ${end.signal}]`
    case 'stopped':
      return '[stopped]'
    case 'not-started':
      return `[could not be started: ${end.message}]`
    default:
      return end satisfies never
  }
}
