import type { ApprovalRequest } from '../../../agent/calls/call-state.ts'
import { defined } from '../../../model/defined.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import {
  type ApprovalViewState,
  isFullyShown,
  isInputFocused,
  type ShownExtent,
  getTerminalSize,
  type UiState,
} from '../ui-state.ts'
import { clipLine, type StyledLine, styledLine, lineWidth, wrapLine } from '../term/styled-line.ts'
import { type ApprovalAnswer, listApprovalAnswers } from './approval-answers.ts'
import { formatApprovalTitle } from './approval-question.ts'
import { renderApprovalTexts } from './approval-texts.ts'
import { renderEditor, type LinesWithCursor } from './input-box.ts'
import { toSingleRow } from './shorten.ts'

/** The width and the free rows of the terminal, and the folder that paths are relative to. */
type ApprovalViewOptions = Readonly<{ width: number; rows: number; root?: string | undefined }>

/** An approval request: what the call would do, in full, and the possible answers. */
export function renderApproval(
  asks: readonly ApprovalRequest[],
  asking: ApprovalViewState,
  options: ApprovalViewOptions,
): LinesWithCursor {
  const { ask, head, body, foot, room, last, reason } = layoutApproval(asks, asking, options)
  const top = Math.min(asking.top, last)
  const part = body.slice(top, top + room)
  const more =
    ask && last > 0
      ? [renderPagePosition(ask, asking, { top, count: part.length, all: body.length }, options.width)]
      : []
  const lines = [...head, ...part, ...more, ...foot]
  if (!reason) return { lines }
  return {
    lines: [...lines, ...reason.lines],
    ...(reason.cursor && { cursor: { row: lines.length + reason.cursor.row, column: reason.cursor.column } }),
  }
}

/** The layout of the request that is shown: how many lines at once (`room`), and the `last` line that can be the first. */
export function layoutShownApproval(state: UiState) {
  const options = fitApprovalArea(state, { ...getTerminalSize(state), root: state.root })
  return { width: options.width, ...layoutApproval(state.approvals, state.approvalView, options) }
}

/** Does the view of a request hide a secret? */
export function hasHiddenSecrets(ask: ApprovalRequest, asking: ApprovalViewState): boolean {
  return !asking.revealedIds.includes(ask.id) && renderApprovalTexts(ask, 80, false).hiddenSecrets > 0
}

/** The state after the screen was drawn: records which lines of the request have been on it. */
export function markShownLines(state: UiState): UiState {
  const { approvals, approvalView } = state
  const ask = approvals[approvalView.at] ?? approvals[0]
  if (!ask || approvalView.shown[ask.id] === 'whole') return state
  const { body, room, last, width } = layoutShownApproval(state)
  const top = Math.min(approvalView.top, last)
  const previous = approvalView.shown[ask.id]
  const isSame = previous !== 'whole' && previous?.width === width && previous.all === body.length
  const before = isSame ? previous.lines : 0
  // A jump leaves a gap, and the lines in the gap were not seen.
  const lines = top <= before ? Math.max(before, Math.min(top + room, body.length)) : before
  const isWhole = lines >= body.length && !hasHiddenSecrets(ask, approvalView)
  const shown: ShownExtent = isWhole ? 'whole' : { width, all: body.length, lines }
  return { ...state, approvalView: { ...approvalView, shown: { ...approvalView.shown, [ask.id]: shown } } }
}

export function renderDraft(state: DraftState, { width, rows }: ApprovalViewOptions): LinesWithCursor {
  const isFocused = isInputFocused(state)
  if (state.editor.text === '' && !isFocused) return { lines: [] }
  const { lines, cursor } = renderEditor(state.editor, { width, mark: '> ', most: maxDraftRows(rows) })
  if (!isFocused) return { lines }
  return {
    lines: [...lines, clipLine(styledLine('Typing. Press Esc to answer the approval prompt.', 'quiet'), width)],
    ...defined({ cursor }),
  }
}

type DraftState = Pick<UiState, 'editor' | 'approvals' | 'isWriting'>

/** The rows that are free for a request: one stays empty, one is for the status, some are for the input. */
export function fitApprovalArea(state: DraftState, options: ApprovalViewOptions): ApprovalViewOptions {
  return { ...options, rows: options.rows - 2 - renderDraft(state, options).lines.length }
}

function maxDraftRows(rows: number): number {
  return Math.max(Math.floor(rows / 6), 1)
}

/** Which part of a long request this is, and that the rest must be seen before it can be approved. */
function renderPagePosition(
  ask: ApprovalRequest,
  asking: ApprovalViewState,
  { top, count, all }: Readonly<Record<'top' | 'count' | 'all', number>>,
  width: number,
): StyledLine {
  const where = `… lines ${top + 1}–${top + count} of ${all}`
  if (isFullyShown(asking, ask.id)) return clipLine(styledLine(`${where}, PgUp/PgDn`, 'quiet'), width)
  if (asking.isTooEarly)
    return clipLine(styledLine(`${where}: read to the end first (PgDn or Space), then answer`, 'warn'), width)
  return clipLine(styledLine(`${where}, PgDn or Space; read to the end before approving`, 'quiet'), width)
}

/** At least this many lines of the body are shown at once; if there is no room, everything else is shortened. */
const MIN_BODY_LINES = 4

function layoutApproval(asks: readonly ApprovalRequest[], asking: ApprovalViewState, options: ApprovalViewOptions) {
  const ask = asks[asking.at] ?? asks[0]
  if (!ask) return { ask, head: [], body: [], foot: [], reason: undefined, room: 0, last: 0 }
  const { width, root } = options
  const reason =
    asking.reasonEditor &&
    renderEditor(asking.reasonEditor, { width, mark: 'Reason: ', most: maxDraftRows(options.rows) })
  const rows = options.rows - (reason?.lines.length ?? 0)
  const asker = ask.asker === undefined ? '' : `${ask.asker} asks: `
  const name = escapeForTerminal(`${asker}${formatApprovalTitle(ask.details, root)}`, 'file-name')
  const count = asks.length > 1 ? ` (${asking.at + 1} of ${asks.length}, ←→)` : ''
  const {
    body,
    reason: because,
    grants: grantLines,
  } = renderApprovalTexts(ask, width, asking.revealedIds.includes(ask.id))
  const hasSecrets = hasHiddenSecrets(ask, asking)
  const hidden = hasSecrets
    ? [clipLine(styledLine(HIDDEN_SECRET_HINT, asking.isTooEarly ? 'warn' : 'quiet'), width)]
    : []
  const keys = listApprovalAnswers(ask, asks, asking, { root, hasSecrets })
  const head = wrapLine(renderTitle(name, count), width)
  // Each grant has its own row.
  const gap = asking.isChoosing ? ' '.repeat(width) : undefined
  const foot = [...because, ...hidden, ...renderAnswerKeys(keys, width, gap)]
  const whole = asking.isChoosing && isAnyTruncated(keys, width) ? [...body, ...grantLines] : body
  if (head.length + foot.length + Math.min(MIN_BODY_LINES, whole.length) < rows)
    return { ask, head, body: whole, foot, reason, ...paginate(whole, rows - head.length - foot.length) }
  // What has no room beside the body is appended to it, and is reached by scrolling.
  const short = [renderTitle(toSingleRow(name, Math.max(width - 2 - count.length, 8)), count)]
  const below = [[], ...(head.length > 1 ? wrapLine(styledLine(name), width) : []), ...because, ...grantLines]
  const longer = [...body, ...below]
  const briefKeys = keys.map(({ key, brief }) => ({ key, meaning: brief }))
  const bareKeys = keys.map(({ key }) => styledLine(`[${key}]`, 'accent'))
  const inWords = renderAnswerKeys(briefKeys, width, ' ')
  const hasRoom = inWords.length + 3 + hidden.length <= rows
  const tight = [...hidden, ...(hasRoom ? inWords : flowPieces(bareKeys, width, ' '))]
  const pages = paginate(longer, rows - short.length - tight.length)
  return { ask, head: short, body: longer, foot: tight, reason, ...pages }
}

const HIDDEN_SECRET_HINT = 'A secret is hidden: press v to show it before approving.'

/** If there are several pages, one row shows the position. */
function paginate(body: readonly StyledLine[], rows: number): { room: number; last: number } {
  if (body.length <= rows) return { room: rows, last: 0 }
  const room = Math.max(rows - 1, 1)
  return { room, last: body.length - room }
}

function renderTitle(name: string, count: string): StyledLine {
  return [
    { text: '? ', tone: 'warn' },
    { text: name, tone: 'strong' },
    { text: count, tone: 'quiet' },
  ]
}

type AnswerKey = Pick<ApprovalAnswer, 'key' | 'meaning'>

/** The answers, each in one row at most. */
function renderAnswerKeys(keys: readonly AnswerKey[], width: number, gap = '   '): StyledLine[] {
  const pieces = keys.map((one): StyledLine => [
    { text: `[${one.key}] `, tone: 'accent' },
    { text: toSingleRow(escapeMeaning(one), meaningColumns(one, width)) },
  ])
  return flowPieces(pieces, width, gap)
}

function escapeMeaning({ meaning }: AnswerKey): string {
  return escapeForTerminal(meaning, 'approval-prompt')
}

function meaningColumns({ key }: AnswerKey, width: number): number {
  return Math.max(width - key.length - 3, 8)
}

function isAnyTruncated(keys: readonly AnswerKey[], width: number): boolean {
  return keys.some((one) => toSingleRow(escapeMeaning(one), meaningColumns(one, width)) !== escapeMeaning(one))
}

/** Pieces side by side, as many as fit; a key stays with its meaning. */
function flowPieces(pieces: readonly StyledLine[], width: number, gap: string): StyledLine[] {
  const rows: StyledLine[] = []
  for (const piece of pieces) {
    const row = rows.at(-1)
    const longer: StyledLine = row ? [...row, { text: gap }, ...piece] : piece
    if (row && lineWidth(longer) <= width) rows[rows.length - 1] = longer
    else rows.push(piece)
  }
  return rows
}
