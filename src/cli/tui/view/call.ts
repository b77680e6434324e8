import { type CallState, isNonZeroExit } from '../../../agent/calls/call-state.ts'
import { isObject } from '../../../model/json.ts'
import { formatResultText } from '../../../model/text.ts'
import type { ResultPart } from '../../../model/turn.ts'
import type { MarkdownDisplay } from '../../../tool/tool.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import {
  clipLine,
  type StyledLine,
  styledLine,
  lineWidth,
  type StyledSpan,
  type TextTone,
  wrapLine,
} from '../term/styled-line.ts'
import { displayWidth } from '../term/display-width.ts'
import { renderDiff, countDiffLines } from './diff.ts'
import type { ViewOptions } from './view-options.ts'
import { renderMarkdown } from './markdown.ts'
import { toRootRelativePath, shortenPath } from './display-path.ts'

export const MAX_OUTPUT_LINES = 8

/** A call: a line with its state, and its output below. */
export function renderCall(
  call: CallState,
  viewOptions: ViewOptions,
  { seconds = 0, progress = '', open = false },
): StyledLine[] {
  const { width } = viewOptions
  const state = STATE_STYLES[callDisplayState(call)]
  const name: StyledLine = [
    { text: `${state.mark} `, tone: state.tone },
    { text: `${escapeForTerminal(call.call.name, 'file-name')} `, tone: 'strong' },
  ]
  const time = renderTiming(call, seconds)
  const room = Math.max(width - lineWidth(name) - lineWidth(time), MIN_SUMMARY_COLUMNS)
  const markdownDisplay = 'result' in call ? findMarkdownDisplay(call.result) : undefined
  const about = styledLine(
    markdownDisplay
      ? escapeForTerminal(markdownDisplay.title, 'file-name')
      : summarizeCall(call, open ? Infinity : room, viewOptions.root),
  )
  const head = open
    ? wrapLine([...name, ...about, ...time], width, [{ text: '  ' }])
    : [[...name, ...clipLine(about, room), ...time]]
  const shown =
    call.status === 'executing'
      ? renderTail(progress, width)
      : 'result' in call
        ? renderResult(call.result, viewOptions, open)
        : []
  return [...head.map((one) => clipLine(one, width)), ...shown.map((one): StyledLine => [{ text: '  ' }, ...one])]
}

type CallDisplayState = 'waiting' | 'asking' | 'running' | 'done' | 'failed' | 'denied' | 'cancelled'

const STATE_STYLES: Readonly<Record<CallDisplayState, { readonly mark: string; readonly tone: TextTone }>> = {
  waiting: { mark: '○', tone: 'quiet' },
  asking: { mark: '?', tone: 'warn' },
  running: { mark: '●', tone: 'accent' },
  done: { mark: '✓', tone: 'good' },
  failed: { mark: '✗', tone: 'bad' },
  denied: { mark: '⊘', tone: 'warn' },
  cancelled: { mark: '⊘', tone: 'quiet' },
}

function callDisplayState(call: CallState): CallDisplayState {
  switch (call.status) {
    case 'validating':
    case 'scheduled':
      return 'waiting'
    case 'awaiting-approval':
      return 'asking'
    case 'executing':
      return 'running'
    case 'success':
      return isNonZeroExit(call.facts) ? 'failed' : 'done'
    case 'error':
    case 'cancelled':
      return call.result.status === 'denied' ? 'denied' : call.status === 'error' ? 'failed' : 'cancelled'
    default:
      return call satisfies never
  }
}

/** At least this many columns are for the summary, however long the name of the tool is. */
const MIN_SUMMARY_COLUMNS = 12

const PATH_KEYS: readonly string[] = ['absolute_path', 'file_path', 'path']
const SUMMARY_KEYS = ['command', ...PATH_KEYS.slice(0, 2), 'pattern', 'path', 'query', 'prompt', 'fact', 'plan', 'url']

/** The main argument of a call: its path, command or pattern. */
function summarizeCall({ call }: CallState, room: number, root: string | undefined): string {
  const input: Readonly<Record<string, unknown>> = isObject(call.input) ? call.input : {}
  const main = SUMMARY_KEYS.find((key) => typeof input[key] === 'string')
  const text = main === undefined ? call.raw : String(input[main])
  const safe = (one: string): string => escapeForTerminal(one, 'file-name')
  if (main !== undefined && PATH_KEYS.includes(main)) return shortenPath(safe(toRootRelativePath(root, text)), room)
  const first = safe(`${text.split('\n', 1)[0] ?? ''}${text.includes('\n') ? ' …' : ''}`)
  const where = main === 'pattern' && typeof input['path'] === 'string' ? toRootRelativePath(root, input['path']) : '.'
  return where === '.'
    ? first
    : `${first} in ${shortenPath(safe(where), Math.max(room - displayWidth(first) - 4, MIN_SUMMARY_COLUMNS))}`
}

/** After this time the user may wonder what a command waits for. */
const OFFLINE_HINT_SECONDS = 3

function renderTiming(call: CallState, seconds: number): StyledSpan[] {
  if (call.status === 'executing' && seconds >= 1) {
    const time: StyledSpan = { text: `  ${seconds} s`, tone: 'quiet' }
    return call.isOffline && seconds >= OFFLINE_HINT_SECONDS
      ? [time, { text: ', no network (sandbox)', tone: 'warn' }]
      : [time]
  }
  const state = callDisplayState(call)
  if (state === 'denied' || state === 'cancelled') return [{ text: `  ${state}`, tone: STATE_STYLES[state].tone }]
  return 'ms' in call && call.ms >= 1000 ? [{ text: `  ${(call.ms / 1000).toFixed(1)} s`, tone: 'quiet' }] : []
}

/** The last lines of the output so far. */
export function renderTail(progress: string, width: number): StyledLine[] {
  const rows = progress
    .trimEnd()
    .split('\n')
    .filter((row) => row !== '')
  return rows.slice(-MAX_OUTPUT_LINES).map((row) => clipLine(styledLine(row, 'quiet'), width - 2))
}

function findMarkdownDisplay({ display }: ResultPart): MarkdownDisplay | undefined {
  if (!isObject(display)) return undefined
  const { title, markdown: text } = display
  return typeof title === 'string' && typeof text === 'string' ? { title, markdown: text } : undefined
}

function renderResult(result: ResultPart, viewOptions: ViewOptions, open: boolean): StyledLine[] {
  const { width } = viewOptions
  const { display } = result
  const markdownDisplay = findMarkdownDisplay(result)
  if (markdownDisplay)
    return renderMarkdown(escapeForTerminal(markdownDisplay.markdown), { ...viewOptions, width: width - 2 })
  const diff = isObject(display) && typeof display['fileDiff'] === 'string' ? display['fileDiff'] : undefined
  if (diff !== undefined) {
    const { added, removed } = countDiffLines(diff)
    const head = styledLine(`+${added} −${removed}`, 'quiet')
    return [head, ...foldLines(renderDiff(escapeForTerminal(diff, 'diff'), width - 2), open ? Infinity : 40)]
  }
  const text = typeof display === 'string' ? display : formatResultText(result)
  const tone = result.status === 'error' ? 'bad' : 'quiet'
  const rows = escapeForTerminal(text.replace(/^\n+/, '').trimEnd(), 'tool-output').split('\n')
  // Lines of output are cut, so that a table stays a table; error messages are wrapped.
  const isWhole = open || result.status !== 'ok'
  const lines = rows.flatMap((row) =>
    isWhole ? wrapLine(styledLine(row, tone), width - 2) : [clipLine(styledLine(row, tone), width - 2)],
  )
  return foldLines(text.trim() === '' ? [] : lines, open ? Infinity : MAX_OUTPUT_LINES)
}

function foldLines(lines: readonly StyledLine[], maxLines: number): StyledLine[] {
  if (lines.length <= maxLines) return [...lines]
  const head = Math.ceil(maxLines / 2)
  const foot = Math.floor(maxLines / 2) - 1
  const hidden = lines.length - head - foot
  return [
    ...lines.slice(0, head),
    styledLine(`… ${hidden} more lines (Ctrl-O shows them)`, 'quiet'),
    ...lines.slice(lines.length - foot),
  ]
}
