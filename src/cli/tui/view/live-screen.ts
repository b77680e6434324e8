import { truncateLines } from '../../output/truncate-lines.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { defined } from '../../../model/defined.ts'
import { formatDuration } from '../../../provider/index.ts'
import type { ConversationBlock, LiveConversation, TextBlock } from '../conversation-state.ts'
import { summarizeActivity } from '../subagent-activity.ts'
import { formatSearchLine } from '../input/history-search.ts'
import type { InputHint, UiState } from '../ui-state.ts'
import { clipLine, type StyledLine, styledLine, wrapLine } from '../term/styled-line.ts'
import { renderApproval, fitApprovalArea, renderDraft } from './approval.ts'
import { renderCall } from './call.ts'
import { renderEditor, renderMenu, type LinesWithCursor, renderQueue } from './input-box.ts'
import { type ViewOptions, MAX_TEXT_COLUMNS } from './view-options.ts'
import { renderCodeLines, renderMarkdown } from './markdown.ts'
import { highlightGrowing } from './highlight-growing.ts'
import { isEmptyCode, takeBlockTail, takeCodeTail } from './markdown-stream.ts'
import { renderStatusLine } from './status.ts'
import { renderUserCommand } from './user-command.ts'

/** The rows of the terminal: no more can be seen of a block that may still change. */
type LiveViewOptions = ViewOptions & { readonly rows?: number }

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
export function renderBlock(block: ConversationBlock, viewOptions: LiveViewOptions, now: number): StyledLine[] {
  const seconds = 'since' in block ? Math.floor((now - block.since) / 1000) : 0
  const { width, rows, root, ascii, highlight } = viewOptions
  const key = [width, rows, root, ascii, highlight, seconds]
  const known = renderedBlocks.get(block)
  if (known?.key.every((one, at) => one === key[at])) return known.lines
  const lines = addGap(block, renderBlockBody(block, viewOptions, now))
  renderedBlocks.set(block, { key, lines })
  return lines
}

/** A block is drawn again only if it, or what it depends on, has changed. */
const renderedBlocks = new WeakMap<ConversationBlock, { key: readonly unknown[]; lines: StyledLine[] }>()

function addGap(block: ConversationBlock, lines: StyledLine[]): StyledLine[] {
  const isContinued = block.kind === 'text' && block.part === 'next'
  return lines.length > 0 && !isContinued ? [[], ...lines] : lines
}

function renderBlockBody(block: ConversationBlock, viewOptions: LiveViewOptions, now: number): StyledLine[] {
  const { width } = viewOptions
  switch (block.kind) {
    case 'user':
      return renderUserMessage(block.text, width)
    case 'text':
      return renderText(block, viewOptions)
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

/** Of a long block that is still coming in, only the end can be on the screen, and it is not highlighted. */
function renderText(block: TextBlock, { highlight, ...viewOptions }: LiveViewOptions): StyledLine[] {
  const { text, done, part } = block
  const { width, rows = Infinity } = viewOptions
  const isLong = !done && text.length > MAX_HIGHLIGHTED_LIVE_CHARS
  const tail = isLong ? takeCodeTail(text, rows) : undefined
  if (tail) {
    const lines = escapeForTerminal(tail.join('\n')).split('\n')
    return renderCodeLines(
      lines.map((one) => styledLine(one, 'code')),
      width,
    )
  }
  if (part === 'next' && isEmptyCode(text)) return []
  const isPlain = isLong || part !== undefined
  const highlightText: typeof highlight = done ? highlight : highlight && highlightGrowing.bind(undefined, highlight)
  const shown = isLong ? (takeBlockTail(text, rows) ?? text) : text
  return renderMarkdown(escapeForTerminal(shown), {
    ...viewOptions,
    ...defined({ highlight: isPlain ? undefined : highlightText }),
  })
}

const MAX_HIGHLIGHTED_LIVE_CHARS = 4000

/** A thought is one line: its subject, or the last line so far. */
function renderThought({ text, done, ms }: Extract<ConversationBlock, { kind: 'thought' }>, width: number) {
  const shown = findLastSubject(text) ?? (done ? text.trimStart().split('\n', 1)[0] : getLastLine(text.trimEnd())) ?? ''
  if (done && shown === '') return []
  const time = done && ms >= 1000 ? ` (${Math.round(ms / 1000)} s)` : ''
  return [clipLine(styledLine(`✻ ${escapeForTerminal(shown.trim())}${time}`, 'quiet'), width)]
}

/** The last text in double asterisks. It is searched from the end: a thought may be long, and is shown at every frame. */
function findLastSubject(text: string): string | undefined {
  for (let end = text.length; end > 0 && text.lastIndexOf('**', end) >= 0;) {
    const line = getLastLine(text.slice(0, end))
    const subject = [...line.matchAll(/\*\*(.+?)\*\*/g)].at(-1)?.[1]
    if (subject !== undefined) return subject
    end -= line.length + 1
  }
  return undefined
}

function getLastLine(text: string): string {
  return text.slice(text.lastIndexOf('\n') + 1)
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
