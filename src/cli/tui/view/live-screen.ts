import { truncateLines } from '../../output/truncate-lines.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { formatDuration } from '../../../provider/index.ts'
import type { ConversationBlock, LiveConversation } from '../conversation-state.ts'
import { summarizeActivity } from '../subagent-activity.ts'
import { formatSearchLine } from '../input/history-search.ts'
import type { InputHint, UiState } from '../ui-state.ts'
import { clipLine, type StyledLine, styledLine, wrapLine } from '../term/styled-line.ts'
import { renderApproval, fitApprovalArea, renderDraft } from './approval.ts'
import { renderCall } from './call.ts'
import { renderEditor, renderMenu, type LinesWithCursor, renderQueue } from './input-box.ts'
import { type ViewOptions, MAX_TEXT_COLUMNS } from './view-options.ts'
import { renderMarkdown } from './markdown.ts'
import { renderStatusLine } from './status.ts'
import { renderUserCommand } from './user-command.ts'

/** The live part of the screen: the blocks that may change, the approval request or the input, and the status line. */
export function renderLiveScreen(
  state: UiState,
  viewOptions: ViewOptions & { readonly rows: number },
  now: number,
): LinesWithCursor {
  const { width } = viewOptions
  // A call that waits for approval is shown in the request.
  const shown = state.conversation.live.filter(
    (block) => !(block.kind === 'call' && block.call.status === 'awaiting-approval' && state.approvals.length > 0),
  )
  const live = shown.flatMap((block) => renderBlock(block, viewOptions, now))
  const working = renderWorkingLine(state, now)
  const above = [...live, ...renderBackgroundRuns(state, width), ...working, ...renderQueue(state, width)]
  const status = renderStatusLine(state.status, width)
  if (state.approvals.length > 0) {
    const ask = renderApproval(state.approvals, state.approvalView, fitApprovalArea(state, viewOptions))
    const draft = renderDraft(state, viewOptions)
    if (draft.cursor) return stackLines([...above, [], ...ask.lines], draft, [...renderMenu(state, width), status])
    return stackLines([...above, []], ask, [...draft.lines, status])
  }
  const mark = state.vim === 'normal' ? ': ' : state.vim === 'visual' ? 'v ' : '> '
  const input = renderEditor(state.editor, { width, mark })
  const hintText = state.search ? escapeForTerminal(formatSearchLine(state.search)) : state.hint && HINTS[state.hint]
  const hint = hintText === undefined ? [] : [clipLine(styledLine(hintText, 'quiet'), width)]
  return stackLines([...above, []], input, [...renderMenu(state, width), ...hint, status])
}

const HINTS: Readonly<Record<InputHint, string>> = {
  leave: 'Press Ctrl-C again to exit; the session is saved.',
  rewind: 'Press Esc again to go back to an earlier message.',
  clear: 'Press Esc again to clear the input.',
  background: 'What runs stays in the foreground: stop it with Esc, and ask for it in the background (/tasks).',
  'attach-image':
    'No image on the clipboard, or no program to read it (wl-paste, xclip, pngpaste). To attach an image, type @ and its path, or drop the file here.',
}

/** A block as it goes to the scrollback, or, while it may still change, as it is now. */
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
    case 'user-command':
      return renderUserCommand(block, width, now)
    case 'thought':
      return renderThought(block, width)
    case 'call':
      return renderCall(block.call, viewOptions, {
        seconds: Math.floor((now - block.since) / 1000),
        progress: escapeForTerminal(block.progress, 'tool-output'),
      })
    case 'notice':
      return truncateLines(escapeForTerminal(block.text))
        .split('\n')
        .flatMap((one) => wrapLine(styledLine(one, block.tone), Math.min(width, MAX_TEXT_COLUMNS)))
    default:
      return block satisfies never
  }
}

/** A longer message of the user is folded. */
const MAX_USER_ROWS = 12

function renderUserMessage(text: string, width: number): StyledLine[] {
  const messageLines = text.split('\n')
  // Each line needs a row at least, so the others need not be escaped.
  const rows = escapeForTerminal(messageLines.slice(0, MAX_USER_ROWS + 1).join('\n'))
    .split('\n')
    .flatMap((one, at) => wrapLine(styledLine(`${at === 0 ? '> ' : '  '}${one}`, 'user'), width, [{ text: '  ' }]))
  const all = rows.length + Math.max(messageLines.length - MAX_USER_ROWS - 1, 0)
  if (all <= MAX_USER_ROWS) return rows
  const head = rows.slice(0, MAX_USER_ROWS - 4)
  return [...head, styledLine(`  … ${all - head.length} more lines`, 'quiet')]
}

/** Long code that is still coming in would be highlighted again at every frame. */
function isLongStreaming({ text, done }: Extract<ConversationBlock, { kind: 'text' }>): boolean {
  return !done && text.length > 4000
}

/** A thought is one line: its subject, or the last line so far. */
function renderThought({ text, done, ms }: Extract<ConversationBlock, { kind: 'thought' }>, width: number) {
  const subject = [...text.matchAll(/\*\*(.+?)\*\*/g)].at(-1)?.[1]
  const rows = text.split('\n').filter((one) => one.trim() !== '')
  const shown = subject ?? (done ? rows[0] : rows.at(-1)) ?? ''
  if (done && shown === '') return []
  const time = done && ms >= 1000 ? ` (${Math.round(ms / 1000)} s)` : ''
  return [clipLine(styledLine(`✻ ${escapeForTerminal(shown.trim())}${time}`, 'quiet'), width)]
}

/** A line for each subagent that works in the background: the call that started it has its result already. */
function renderBackgroundRuns({ conversation }: UiState, width: number): StyledLine[] {
  const shown = new Set(conversation.live.flatMap((block) => (block.kind === 'call' ? [block.call.call.id] : [])))
  const others = (conversation.subagents ?? []).filter(({ call }) => !shown.has(call))
  const rows = others.map((activity) => {
    const text = `${activity.name} in the background: ${summarizeActivity(activity).replaceAll('\n', ' · ')}`
    return clipLine(
      [{ text: '● ', tone: 'accent' }, ...styledLine(escapeForTerminal(text, 'file-name'), 'quiet')],
      width,
    )
  })
  return rows.length === 0 ? [] : [[], ...rows]
}

function renderWorkingLine({ runningSince, approvals, conversation }: UiState, now: number): StyledLine[] {
  if (runningSince === undefined || approvals.length > 0) return []
  const seconds = Math.floor((now - runningSince) / 1000)
  // Messages are not queued while a shell command of the user runs.
  const isUserCommandRunning = conversation.live.some(({ kind }) => kind === 'user-command')
  const frame = SPINNER_FRAMES[Math.floor(now / 250) % SPINNER_FRAMES.length] ?? ''
  const keys = `Esc stops${isUserCommandRunning ? '' : ', typing queues'}`
  const text = `working ${seconds} s${describeWaiting(conversation, now)} · ${keys}`
  return [[], [...styledLine(`${frame} `, 'accent'), ...styledLine(text, 'quiet')]]
}

function describeWaiting({ waiting }: LiveConversation, now: number): string {
  if (!waiting) return ''
  return ` · waiting for ${escapeForTerminal(waiting.host)} ${formatDuration(now - waiting.since)}, timeout after ${formatDuration(waiting.limit)}`
}

const SPINNER_FRAMES = ['◐', '◓', '◑', '◒']

function stackLines(above: readonly StyledLine[], middle: LinesWithCursor, below: readonly StyledLine[]) {
  return {
    lines: [...above, ...middle.lines, ...below],
    ...(middle.cursor && { cursor: { row: above.length + middle.cursor.row, column: middle.cursor.column } }),
  }
}
