import type { ApprovalRequest } from '../../../agent/calls/call-state.ts'
import { sanitizeQuestion } from '../../../policy/text/sanitize.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import {
  type ApprovalView,
  isFullyShown,
  isInputFocused,
  type ShownExtent,
  terminalSize,
  type UiState,
} from '../ui-state.ts'
import { layoutExactRows } from '../term/exact-rows.ts'
import {
  truncateStyledLine,
  type StyledLine,
  styledLine,
  lineWidth,
  type StyledSpan,
  wrapLine,
} from '../term/styled-line.ts'
import { type ApprovalAnswer, listApprovalAnswers } from './approval-answers.ts'
import { renderDiff, countDiffLines } from './diff.ts'
import { renderEditor, type LinesWithCursor } from './input.ts'
import { relativeToRoot } from './path.ts'
import { toSingleRow } from './shorten.ts'
import { defined } from '../../../model/defined.ts'

/** What a question needs to know of the terminal: its width, the rows that are free, the folder that paths are shown from. */
export interface ApprovalViewOptions {
  readonly width: number
  readonly rows: number
  readonly root?: string | undefined
}

/** A question to the person: what would happen, whole, and the answers that there are. */
export function renderApproval(
  asks: readonly ApprovalRequest[],
  asking: ApprovalView,
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

/** How many lines of a question are shown at once, and the last line with which a page can begin. */
export function measureApprovalWindow(
  asks: readonly ApprovalRequest[],
  asking: ApprovalView,
  options: ApprovalViewOptions,
): { room: number; last: number } {
  return layoutApproval(asks, asking, options)
}

/** Does a question hide the value of a secret now? */
export function hasHiddenSecrets(ask: ApprovalRequest, asking: ApprovalView): boolean {
  return !asking.revealedIds.includes(ask.id) && renderApprovalTexts(ask, 80, false).secrets > 0
}

/** The state after the screen was drawn: what of the question was on it is noted. */
export function markShownLines(state: UiState): UiState {
  const { approvals, approvalView } = state
  const options = fitApprovalArea(state, { ...terminalSize(state), root: state.root })
  const { ask, body, room, last } = layoutApproval(approvals, approvalView, options)
  if (!ask || approvalView.shown[ask.id] === 'whole') return state
  const top = Math.min(approvalView.top, last)
  const previous = approvalView.shown[ask.id]
  const isSame = previous !== 'whole' && previous?.width === options.width && previous.all === body.length
  const before = isSame ? previous.lines : 0
  // A page that was reached by a leap leaves a gap, and what is in the gap was not seen.
  const lines = top <= before ? Math.max(before, Math.min(top + room, body.length)) : before
  const isWhole = lines >= body.length && !hasHiddenSecrets(ask, approvalView)
  const shown: ShownExtent = isWhole ? 'whole' : { width: options.width, all: body.length, lines }
  return { ...state, approvalView: { ...approvalView, shown: { ...approvalView.shown, [ask.id]: shown } } }
}

/** What was being written when the question came: it stays in sight, and leaves the question its room. */
export function renderDraft(state: DraftState, { width, rows }: ApprovalViewOptions): LinesWithCursor {
  const isFocused = isInputFocused(state)
  if (state.editor.text === '' && !isFocused) return { lines: [] }
  const { lines, cursor } = renderEditor(state.editor, { width, mark: '> ', most: maxDraftRows(rows) })
  if (!isFocused) return { lines }
  return {
    lines: [...lines, truncateStyledLine(styledLine('You are writing. Esc: answer the question.', 'quiet'), width)],
    ...defined({ cursor }),
  }
}

type DraftState = Pick<UiState, 'editor' | 'approvals' | 'isWriting'>

/** The rows of a terminal that are free for a question: one stays empty, one has the status, some have the draft. */
export function fitApprovalArea(state: DraftState, options: ApprovalViewOptions): ApprovalViewOptions {
  return { ...options, rows: options.rows - 2 - renderDraft(state, options).lines.length }
}

/** So many rows have the person's own words beside a question. */
function maxDraftRows(rows: number): number {
  return Math.max(Math.floor(rows / 6), 1)
}

interface PagePosition {
  readonly top: number
  readonly count: number
  readonly all: number
}

/** Which part of a long question this is, and what is still to be seen before it can be approved. */
function renderPagePosition(
  ask: ApprovalRequest,
  asking: ApprovalView,
  { top, count, all }: PagePosition,
  width: number,
): StyledLine {
  const where = `… lines ${top + 1}–${top + count} of ${all}`
  if (isFullyShown(asking, ask.id)) return truncateStyledLine(styledLine(`${where}, PgUp/PgDn`, 'quiet'), width)
  if (asking.isTooEarly)
    return truncateStyledLine(styledLine(`${where}: see the rest first (PgDn or Space), then answer`, 'warn'), width)
  return truncateStyledLine(styledLine(`${where}, PgDn or Space; yes counts after the last line`, 'quiet'), width)
}

/** So many lines of what is asked about must be there at once; where they are not, all the rest is made short. */
const MIN_BODY_LINES = 4

function layoutApproval(asks: readonly ApprovalRequest[], asking: ApprovalView, options: ApprovalViewOptions) {
  const ask = asks[asking.at] ?? asks[0]
  if (!ask) return { ask, head: [], body: [], foot: [], reason: undefined, room: 0, last: 0 }
  const { width, root } = options
  const reason =
    asking.reasonEditor &&
    renderEditor(asking.reasonEditor, { width, mark: 'Why not? ', most: maxDraftRows(options.rows) })
  const rows = options.rows - (reason?.lines.length ?? 0)
  const name = escapeForTerminal(formatTitle(ask, root), 'file-name')
  const count = asks.length > 1 ? ` (${asking.at + 1} of ${asks.length}, ←→)` : ''
  const { body, because, covered: grantLines } = renderApprovalTexts(ask, width, asking.revealedIds.includes(ask.id))
  const hasSecrets = hasHiddenSecrets(ask, asking)
  const hidden = hasSecrets
    ? [truncateStyledLine(styledLine(HIDDEN_SECRET_HINT, asking.isTooEarly ? 'warn' : 'quiet'), width)]
    : []
  const keys = listApprovalAnswers(ask, asks, asking, { root, hasSecrets })
  const head = wrapLine(renderTitle(name, count), width)
  // What can be allowed from now on has a row for each.
  const gap = asking.isChoosing ? ' '.repeat(width) : undefined
  const foot = [...because, ...hidden, ...renderAnswerKeys(keys, width, gap)]
  const whole = asking.isChoosing && isAnyTruncated(keys, width) ? [...body, ...grantLines] : body
  if (head.length + foot.length + Math.min(MIN_BODY_LINES, whole.length) < rows)
    return { ask, head, body: whole, foot, reason, ...paginate(whole, rows - head.length - foot.length) }
  // What has no room beside the thing itself stands below it, whole, and is reached like the rest of it.
  const short = [renderTitle(toSingleRow(name, Math.max(width - 2 - count.length, 8)), count)]
  const below = [[], ...(head.length > 1 ? wrapLine(styledLine(name), width) : []), ...because, ...grantLines]
  const longer = [...body, ...below]
  const inWords = renderAnswerKeys(
    keys.map(({ key, brief }) => ({ key, meaning: brief })),
    width,
    ' ',
  )
  const tight = [
    ...hidden,
    ...(inWords.length + 3 + hidden.length <= rows
      ? inWords
      : flowPieces(
          keys.map(({ key }) => styledLine(`[${key}]`, 'accent')),
          width,
          ' ',
        )),
  ]
  return {
    ask,
    head: short,
    body: longer,
    foot: tight,
    reason,
    ...paginate(longer, rows - short.length - tight.length),
  }
}

const HIDDEN_SECRET_HINT = 'A secret in it is not shown: [v] shows it. Yes counts after that.'

/** Of a text that needs several pages, one line of each says which part it is. */
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

function formatTitle({ details }: ApprovalRequest, root: string | undefined): string {
  if (details.kind === 'edit') {
    const { added, removed } = countDiffLines(details.fileDiff)
    return `${details.originalContent === null ? 'Make' : 'Change'} ${relativeToRoot(root, details.filePath)}? +${added} −${removed}`
  }
  if (details.kind === 'exec') {
    const folder = relativeToRoot(root, details.folder)
    return folder === '.' ? 'Run this?' : `Run this in ${folder}?`
  }
  if (details.kind === 'plan') return 'The plan: shall it be carried out?'
  if (details.kind === 'mcp') return `Call ${details.toolDisplayName} of the server ${details.serverName}?`
  return details.title
}

interface ApprovalTexts {
  readonly width: number
  readonly isRevealed: boolean
  readonly body: readonly StyledLine[]
  readonly because: readonly StyledLine[]
  readonly covered: readonly StyledLine[]
  /** How many secrets are not shown. */
  readonly secrets: number
}

/** The lines of a question, which may be many, are made once and not at every key. */
function renderApprovalTexts(ask: ApprovalRequest, width: number, isRevealed: boolean): ApprovalTexts {
  const previous = textsCache.get(ask)?.find((one) => one.width === width && one.isRevealed === isRevealed)
  if (previous) return previous
  const { lines, secrets } = renderBody(ask, width, isRevealed)
  const grantLines = renderGrants(ask, width)
  const texts = { width, isRevealed, body: lines, because: renderReason(ask, width), covered: grantLines, secrets }
  textsCache.set(ask, [texts, ...(textsCache.get(ask) ?? [])].slice(0, 4))
  return texts
}

const textsCache = new WeakMap<ApprovalRequest, readonly ApprovalTexts[]>()

/** Nothing is left out of what is asked about: a person must be able to see all of it. */
function renderBody(
  { details }: ApprovalRequest,
  width: number,
  reveal: boolean,
): { lines: readonly StyledLine[]; secrets: number } {
  if (details.kind === 'edit') {
    const lines = renderDiff(escapeForTerminal(details.fileDiff, 'diff'), width)
    return { lines: lines.length > 0 ? lines : [styledLine('Nothing would change.', 'quiet')], secrets: 0 }
  }
  const { text, secrets } = sanitizeQuestion(bodyText(details), { reveal })
  return { lines: renderQuoted(text, width), secrets }
}

function bodyText(details: Exclude<ApprovalRequest['details'], { kind: 'edit' }>): string {
  if (details.kind === 'exec' || details.kind === 'sandbox') return details.command
  if (details.kind === 'plan') return details.plan
  if (details.kind === 'info') return [details.prompt, ...(details.urls ?? [])].join('\n')
  const { toolName, input = '', changes } = details
  const changeNotes = changes === undefined ? [] : ['It has changed since you allowed it:', changes, '']
  return [...changeNotes, `${toolName} ${input}`].join('\n')
}

/** What others wrote stands behind a bar, so that it cannot pass for the question; a broken one where a line goes on. */
function renderQuoted(text: string, width: number): StyledLine[] {
  return text
    .split('\n')
    .flatMap((one) => layoutExactRows(one, { width, first: [BAR], next: [CONTINUATION_BAR], tone: 'code' }))
}

const BAR: StyledSpan = { text: '│ ', tone: 'quiet' }
const CONTINUATION_BAR: StyledSpan = { text: '┆ ', tone: 'quiet' }

function renderReason({ decision, details }: ApprovalRequest, width: number): StyledLine[] {
  // The title of an edit says the same.
  if (details.kind === 'edit' && decision.isRoutine) return []
  const isOffline = details.kind === 'exec' && details.isOffline
  const offlineNote = isOffline
    ? wrapLine(styledLine('It needs the network, which the sandbox closes to it.', 'warn'), width)
    : []
  return [
    ...offlineNote,
    ...wrapLine(
      styledLine(toSingleRow(escapeForTerminal(decision.why, 'approval-prompt'), MAX_REASON_COLUMNS), 'quiet'),
      width,
    ),
  ]
}

/** More columns than this no reason needs; it may quote a command, which stands above anyway. */
const MAX_REASON_COLUMNS = 240

type AnswerKey = Pick<ApprovalAnswer, 'key' | 'meaning'>

/** The answers; each is in one row, however long the text that it names. */
function renderAnswerKeys(keys: readonly AnswerKey[], width: number, gap = '   '): StyledLine[] {
  return flowPieces(
    keys.map((one) => [
      { text: `[${one.key}] `, tone: 'accent' as const },
      { text: toSingleRow(escapeMeaning(one), meaningColumns(one, width)) },
    ]),
    width,
    gap,
  )
}

function escapeMeaning({ meaning }: AnswerKey): string {
  return escapeForTerminal(meaning, 'approval-prompt')
}

function meaningColumns({ key }: AnswerKey, width: number): number {
  return Math.max(width - key.length - 3, 8)
}

/** Does an answer not have room for what it means? */
function isAnyTruncated(keys: readonly AnswerKey[], width: number): boolean {
  return keys.some((one) => toSingleRow(escapeMeaning(one), meaningColumns(one, width)) !== escapeMeaning(one))
}

/** What can be allowed from now on, whole. */
function renderGrants({ decision: { grants = [] } }: ApprovalRequest, width: number): StyledLine[] {
  return grants.flatMap(({ covers }) =>
    wrapLine(styledLine(escapeForTerminal(`Always: ${covers}`, 'approval-prompt'), 'quiet'), width, [{ text: '  ' }]),
  )
}

/** Pieces side by side, as many as fit: a key is never parted from its meaning. */
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
