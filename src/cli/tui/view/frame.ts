import { truncateLines } from '../../output/truncate-lines.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { formatDuration } from '../../../provider/index.ts'
import type { ConversationBlock, Conversation } from '../conversation.ts'
import { formatSearchLine } from '../input/history-search.ts'
import type { UiState } from '../ui-state.ts'
import { truncateStyledLine, type StyledLine, styledLine, wrapLine } from '../term/styled-line.ts'
import { renderApproval, fitApprovalArea, renderDraft } from './approval.ts'
import { renderCall, renderTail } from './call.ts'
import { renderEditor, renderMenu, type LinesWithCursor, renderQueue } from './input.ts'
import { type ViewOptions, MAX_TEXT_COLUMNS } from './view-options.ts'
import { renderMarkdown } from './markdown.ts'
import { toSingleRow } from './shorten.ts'
import { renderStatusLine } from './status.ts'

/** The live part of the screen: what may still change, the question or the input, and the status. */
export function renderFrame(
  state: UiState,
  viewOptions: ViewOptions & { readonly rows: number },
  now: number,
): LinesWithCursor {
  const { width } = viewOptions
  // A call that is asked about stands in the question.
  const shown = state.conversation.live.filter(
    (block) => !(block.kind === 'call' && block.call.status === 'awaiting-approval' && state.approvals.length > 0),
  )
  const live = shown.flatMap((block) => renderBlock(block, viewOptions, now))
  const working = renderWorkingLine(state, now)
  const above = [...live, ...working, ...renderQueue(state, width)]
  const status = renderStatusLine(state.status, width)
  if (state.approvals.length > 0) {
    const ask = renderApproval(state.approvals, state.approvalView, fitApprovalArea(state, viewOptions))
    const draft = renderDraft(state, viewOptions)
    if (draft.cursor) return stackLines([...above, [], ...ask.lines], draft, [...renderMenu(state, width), status])
    return stackLines([...above, []], ask, [...draft.lines, status])
  }
  const mark = state.vim === 'normal' ? ': ' : '> '
  const input = renderEditor(state.editor, { width, mark })
  const hintText = state.search ? escapeForTerminal(formatSearchLine(state.search)) : state.hint
  const hint = hintText === undefined ? [] : [truncateStyledLine(styledLine(hintText, 'quiet'), width)]
  return stackLines([...above, []], input, [...renderMenu(state, width), ...hint, status])
}

/** A block as it stands above, for good; or as far as it has come. */
export function renderBlock(block: ConversationBlock, viewOptions: ViewOptions, now: number): StyledLine[] {
  const lines = renderBlockBody(block, viewOptions, now)
  return lines.length > 0 ? [[], ...lines] : lines
}

function renderBlockBody(block: ConversationBlock, viewOptions: ViewOptions, now: number): StyledLine[] {
  const { width } = viewOptions
  switch (block.kind) {
    case 'user':
      return renderUserMessage(block.text, width)
    case 'text':
      return renderMarkdown(escapeForTerminal(block.text), isLongStreaming(block) ? { width } : viewOptions)
    case 'own':
      return renderUserCommand(block, width, now)
    case 'thought':
      return renderThought(block, width)
    case 'call':
      return renderCall(block.call, {
        look: viewOptions,
        seconds: Math.floor((now - block.since) / 1000),
        progress: escapeForTerminal(block.progress, 'tool-output'),
        open: false,
      })
    default:
      return truncateLines(escapeForTerminal(block.text))
        .split('\n')
        .flatMap((one) => wrapLine(styledLine(one, block.tone), Math.min(width, MAX_TEXT_COLUMNS)))
  }
}

/** So many rows of what a person said are shown again; they know the rest, which they pasted. */
const MAX_USER_ROWS = 12

function renderUserMessage(text: string, width: number): StyledLine[] {
  const messageLines = text.split('\n')
  // No line needs less than a row.
  const rows = escapeForTerminal(messageLines.slice(0, MAX_USER_ROWS + 1).join('\n'))
    .split('\n')
    .flatMap((one, at) =>
      wrapLine(
        [
          { text: at === 0 ? '> ' : '  ', tone: 'user' },
          { text: one, tone: 'user' },
        ],
        width,
        [{ text: '  ' }],
      ),
    )
  const all = rows.length + Math.max(messageLines.length - MAX_USER_ROWS - 1, 0)
  if (all <= MAX_USER_ROWS) return rows
  const head = rows.slice(0, MAX_USER_ROWS - 4)
  return [...head, styledLine(`  … ${all - head.length} more lines`, 'quiet')]
}

/** A person's own command: its last lines while it runs, and all of them when it has ended. */
function renderUserCommand(
  { command, output, since, end }: Extract<ConversationBlock, { kind: 'own' }>,
  width: number,
  now: number,
): StyledLine[] {
  const seconds = end === undefined ? Math.floor((now - since) / 1000) : 0
  const head: StyledLine = [
    { text: `! ${toSingleRow(escapeForTerminal(command), width - 10)}`, tone: 'user' },
    { text: seconds >= 1 ? `  ${seconds} s` : '', tone: 'quiet' },
  ]
  if (end === undefined) return [head, ...renderTail(escapeForTerminal(output, 'tool-output'), width)]
  const shown = escapeForTerminal(output.trimEnd(), 'tool-output')
  const rows = shown === '' ? [] : shown.split('\n')
  const last = end === '' ? [] : [styledLine(escapeForTerminal(end), 'warn')]
  return [head, ...rows.flatMap((row) => wrapLine(styledLine(row), width, [{ text: '  ' }])), ...last]
}

/** Code that is still coming in would be coloured anew at every frame; once it is whole, it is coloured once. */
function isLongStreaming({ text, done }: Extract<ConversationBlock, { kind: 'text' }>): boolean {
  return !done && text.length > 4000
}

/** Thoughts are folded: their subject, or their last line while they come. */
function renderThought(
  { text, done, ms }: Extract<ConversationBlock, { kind: 'thought' }>,
  width: number,
): StyledLine[] {
  const subject = [...text.matchAll(/\*\*(.+?)\*\*/g)].at(-1)?.[1]
  const rows = text.split('\n').filter((one) => one.trim() !== '')
  const shown = subject ?? (done ? rows[0] : rows.at(-1)) ?? ''
  if (done && shown === '') return []
  const time = done && ms >= 1000 ? ` (${Math.round(ms / 1000)} s)` : ''
  return [
    truncateStyledLine(
      [
        { text: '✻ ', tone: 'quiet' },
        { text: escapeForTerminal(shown.trim()), tone: 'quiet' },
        { text: time, tone: 'quiet' },
      ],
      width,
    ),
  ]
}

function renderWorkingLine({ runningSince, approvals, conversation }: UiState, now: number): StyledLine[] {
  if (runningSince === undefined || approvals.length > 0) return []
  const seconds = Math.floor((now - runningSince) / 1000)
  // Nobody reads what is typed while a command of the person's own runs.
  const isUserCommandRunning = conversation.live.some(({ kind }) => kind === 'own')
  const frameMark = SPINNER_FRAMES[Math.floor(now / 250) % SPINNER_FRAMES.length] ?? ''
  return [
    [],
    [
      { text: `${frameMark} `, tone: 'accent' },
      {
        text: `working ${seconds} s${describeWaiting(conversation, now)} · Esc stops${isUserCommandRunning ? '' : ', typing queues'}`,
        tone: 'quiet',
      },
    ],
  ]
}

/** A long wait says whom it is for, and when it will be over. */
function describeWaiting({ waiting }: Conversation, now: number): string {
  if (!waiting) return ''
  return ` · waiting for ${escapeForTerminal(waiting.host)} ${formatDuration(now - waiting.since)}, gives up after ${formatDuration(waiting.limit)}`
}

const SPINNER_FRAMES = ['◐', '◓', '◑', '◒']

function stackLines(
  above: readonly StyledLine[],
  middle: LinesWithCursor,
  below: readonly StyledLine[],
): LinesWithCursor {
  return {
    lines: [...above, ...middle.lines, ...below],
    ...(middle.cursor && { cursor: { row: above.length + middle.cursor.row, column: middle.cursor.column } }),
  }
}
