import type { Ask } from '../../../agent/call-state.ts'
import { renderQuestion } from '../../../policy/terminal.ts'
import { visible } from '../../output/visible.ts'
import { type Asking, isWhollyShown, isWriting, type Shown, sizeOf, type State } from '../state.ts'
import { exactRows } from '../term/exact.ts'
import { cut, type Line, line, lineWidth, type Span, wrap } from '../term/line.ts'
import { type Answer, answersTo } from './answers.ts'
import { diffLines, diffSize } from './diff.ts'
import { editorLines, type Placed } from './input.ts'
import { pathFrom } from './path.ts'
import { inOneRow } from './shorten.ts'

/** What a question needs to know of the terminal: its width, the rows that are free, the folder that paths are shown from. */
export interface AskLook {
  readonly width: number
  readonly rows: number
  readonly root?: string | undefined
}

/** A question to the person: what would happen, whole, and the answers that there are. */
export function askLines(asks: readonly Ask[], asking: Asking, look: AskLook): Placed {
  const { ask, head, body, foot, room, last, reason } = parts(asks, asking, look)
  const top = Math.min(asking.top, last)
  const part = body.slice(top, top + room)
  const more = ask && last > 0 ? [pageLine(ask, asking, { top, count: part.length, all: body.length }, look.width)] : []
  const lines = [...head, ...part, ...more, ...foot]
  if (!reason) return { lines }
  return {
    lines: [...lines, ...reason.lines],
    ...(reason.cursor && { cursor: { row: lines.length + reason.cursor.row, column: reason.cursor.column } }),
  }
}

/** How many lines of a question are shown at once, and the last line with which a page can begin. */
export function askWindow(asks: readonly Ask[], asking: Asking, look: AskLook): { room: number; last: number } {
  return parts(asks, asking, look)
}

/** Does a question hide the value of a secret now? */
export function hidesSecrets(ask: Ask, asking: Asking): boolean {
  return !asking.revealed.includes(ask.id) && textsOf(ask, 80, false).secrets > 0
}

/** The state after the screen was drawn: what of the question was on it is noted. */
export function withShown(state: State): State {
  const { asks, asking } = state
  const look = askRoom(state, { ...sizeOf(state), root: state.root })
  const { ask, body, room, last } = parts(asks, asking, look)
  if (!ask || asking.shown[ask.id] === 'whole') return state
  const top = Math.min(asking.top, last)
  const former = asking.shown[ask.id]
  const isSame = former !== 'whole' && former?.width === look.width && former.all === body.length
  const before = isSame ? former.lines : 0
  // A page that was reached by a leap leaves a gap, and what is in the gap was not seen.
  const lines = top <= before ? Math.max(before, Math.min(top + room, body.length)) : before
  const isWhole = lines >= body.length && !hidesSecrets(ask, asking)
  const shown: Shown = isWhole ? 'whole' : { width: look.width, all: body.length, lines }
  return { ...state, asking: { ...asking, shown: { ...asking.shown, [ask.id]: shown } } }
}

/** What was being written when the question came: it stays in sight, and leaves the question its room. */
export function draftLines(state: Draft, { width, rows }: AskLook): Placed {
  const isHere = isWriting(state)
  if (state.editor.text === '' && !isHere) return { lines: [] }
  const { lines, cursor } = editorLines(state.editor, { width, mark: '> ', most: ownRows(rows) })
  if (!isHere) return { lines }
  return {
    lines: [...lines, cut(line('You are writing. Esc: answer the question.', 'quiet'), width)],
    ...(cursor && { cursor }),
  }
}

type Draft = Pick<State, 'editor' | 'asks' | 'isWriting'>

/** The rows of a terminal that are free for a question: one stays empty, one has the status, some have the draft. */
export function askRoom(state: Draft, look: AskLook): AskLook {
  return { ...look, rows: look.rows - 2 - draftLines(state, look).lines.length }
}

/** So many rows have the person's own words beside a question. */
function ownRows(rows: number): number {
  return Math.max(Math.floor(rows / 6), 1)
}

interface Page {
  readonly top: number
  readonly count: number
  readonly all: number
}

/** Which part of a long question this is, and what is still to be seen before it can be approved. */
function pageLine(ask: Ask, asking: Asking, { top, count, all }: Page, width: number): Line {
  const where = `… lines ${top + 1}–${top + count} of ${all}`
  if (isWhollyShown(asking, ask.id)) return cut(line(`${where}, PgUp/PgDn`, 'quiet'), width)
  if (asking.isTooEarly) return cut(line(`${where}: see the rest first (PgDn or Space), then answer`, 'warn'), width)
  return cut(line(`${where}, PgDn or Space; yes counts after the last line`, 'quiet'), width)
}

/** So many lines of what is asked about must be there at once; where they are not, all the rest is made short. */
const LEAST = 4

function parts(asks: readonly Ask[], asking: Asking, look: AskLook) {
  const ask = asks[asking.at] ?? asks[0]
  if (!ask) return { ask, head: [], body: [], foot: [], reason: undefined, room: 0, last: 0 }
  const { width, root } = look
  const reason = asking.why && editorLines(asking.why, { width, mark: 'Why not? ', most: ownRows(look.rows) })
  const rows = look.rows - (reason?.lines.length ?? 0)
  const name = visible(title(ask, root), 'file-name')
  const count = asks.length > 1 ? ` (${asking.at + 1} of ${asks.length}, ←→)` : ''
  const { body, because, covered } = textsOf(ask, width, asking.revealed.includes(ask.id))
  const hasSecrets = hidesSecrets(ask, asking)
  const hidden = hasSecrets ? [cut(line(HIDDEN, asking.isTooEarly ? 'warn' : 'quiet'), width)] : []
  const keys = answersTo(ask, asks, asking, { root, hasSecrets })
  const head = wrap(headLine(name, count), width)
  // What can be allowed from now on has a row for each.
  const gap = asking.isChoosing ? ' '.repeat(width) : undefined
  const foot = [...because, ...hidden, ...keyLines(keys, width, gap)]
  const whole = asking.isChoosing && isCut(keys, width) ? [...body, ...covered] : body
  if (head.length + foot.length + Math.min(LEAST, whole.length) < rows)
    return { ask, head, body: whole, foot, reason, ...pages(whole, rows - head.length - foot.length) }
  // What has no room beside the thing itself stands below it, whole, and is reached like the rest of it.
  const short = [headLine(inOneRow(name, Math.max(width - 2 - count.length, 8)), count)]
  const below = [[], ...(head.length > 1 ? wrap(line(name), width) : []), ...because, ...covered]
  const longer = [...body, ...below]
  const inWords = keyLines(
    keys.map(({ key, brief }) => ({ key, meaning: brief })),
    width,
    ' ',
  )
  const tight = [
    ...hidden,
    ...(inWords.length + 3 + hidden.length <= rows
      ? inWords
      : flow(
          keys.map(({ key }) => line(`[${key}]`, 'accent')),
          width,
          ' ',
        )),
  ]
  return { ask, head: short, body: longer, foot: tight, reason, ...pages(longer, rows - short.length - tight.length) }
}

const HIDDEN = 'A secret in it is not shown: [v] shows it. Yes counts after that.'

/** Of a text that needs several pages, one line of each says which part it is. */
function pages(body: readonly Line[], rows: number): { room: number; last: number } {
  if (body.length <= rows) return { room: rows, last: 0 }
  const room = Math.max(rows - 1, 1)
  return { room, last: body.length - room }
}

function headLine(name: string, count: string): Line {
  return [
    { text: '? ', tone: 'warn' },
    { text: name, tone: 'strong' },
    { text: count, tone: 'quiet' },
  ]
}

function title({ details }: Ask, root: string | undefined): string {
  if (details.kind === 'edit') {
    const { added, removed } = diffSize(details.fileDiff)
    return `${details.originalContent === null ? 'Make' : 'Change'} ${pathFrom(root, details.filePath)}? +${added} −${removed}`
  }
  if (details.kind === 'exec') {
    const folder = pathFrom(root, details.folder)
    return folder === '.' ? 'Run this?' : `Run this in ${folder}?`
  }
  if (details.kind === 'plan') return 'The plan: shall it be carried out?'
  if (details.kind === 'mcp') return `Call ${details.toolDisplayName} of the server ${details.serverName}?`
  return details.title
}

interface Texts {
  readonly width: number
  readonly isRevealed: boolean
  readonly body: readonly Line[]
  readonly because: readonly Line[]
  readonly covered: readonly Line[]
  /** How many secrets are not shown. */
  readonly secrets: number
}

/** The lines of a question, which may be many, are made once and not at every key. */
function textsOf(ask: Ask, width: number, isRevealed: boolean): Texts {
  const former = made.get(ask)?.find((one) => one.width === width && one.isRevealed === isRevealed)
  if (former) return former
  const { lines, secrets } = matter(ask, width, isRevealed)
  const covered = coverLines(ask, width)
  const texts = { width, isRevealed, body: lines, because: why(ask, width), covered, secrets }
  made.set(ask, [texts, ...(made.get(ask) ?? [])].slice(0, 4))
  return texts
}

const made = new WeakMap<Ask, readonly Texts[]>()

/** Nothing is left out of what is asked about: a person must be able to see all of it. */
function matter({ details }: Ask, width: number, reveal: boolean): { lines: readonly Line[]; secrets: number } {
  if (details.kind === 'edit') {
    const lines = diffLines(visible(details.fileDiff, 'diff'), width)
    return { lines: lines.length > 0 ? lines : [line('Nothing would change.', 'quiet')], secrets: 0 }
  }
  const { text, secrets } = renderQuestion(textOf(details), { reveal })
  return { lines: behindBar(text, width), secrets }
}

function textOf(details: Exclude<Ask['details'], { kind: 'edit' }>): string {
  if (details.kind === 'exec' || details.kind === 'sandbox') return details.command
  if (details.kind === 'plan') return details.plan
  if (details.kind === 'info') return [details.prompt, ...(details.urls ?? [])].join('\n')
  const { toolName, input = '', changes } = details
  const news = changes === undefined ? [] : ['It has changed since you allowed it:', changes, '']
  return [...news, `${toolName} ${input}`].join('\n')
}

/** What others wrote stands behind a bar, so that it cannot pass for the question; a broken one where a line goes on. */
function behindBar(text: string, width: number): Line[] {
  return text.split('\n').flatMap((one) => exactRows(one, { width, first: [BAR], next: [GOES_ON], tone: 'code' }))
}

const BAR: Span = { text: '│ ', tone: 'quiet' }
const GOES_ON: Span = { text: '┆ ', tone: 'quiet' }

function why({ decision, details }: Ask, width: number): Line[] {
  // The title says that already.
  if (details.kind === 'edit' && decision.why === `It changes ${details.filePath}.`) return []
  const isOffline = details.kind === 'exec' && details.isOffline
  const closed = isOffline ? wrap(line('It needs the network, which the sandbox closes to it.', 'warn'), width) : []
  return [...closed, ...wrap(line(inOneRow(visible(decision.why, 'approval-prompt'), LONGEST), 'quiet'), width)]
}

/** More columns than this no reason needs; it may quote a command, which stands above anyway. */
const LONGEST = 240

type Key = Pick<Answer, 'key' | 'meaning'>

/** The answers; each is in one row, however long the text that it names. */
function keyLines(keys: readonly Key[], width: number, gap = '   '): Line[] {
  return flow(
    keys.map((one) => [
      { text: `[${one.key}] `, tone: 'accent' as const },
      { text: inOneRow(meaningOf(one), roomFor(one, width)) },
    ]),
    width,
    gap,
  )
}

function meaningOf({ meaning }: Key): string {
  return visible(meaning, 'approval-prompt')
}

function roomFor({ key }: Key, width: number): number {
  return Math.max(width - key.length - 3, 8)
}

/** Does an answer not have room for what it means? */
function isCut(keys: readonly Key[], width: number): boolean {
  return keys.some((one) => inOneRow(meaningOf(one), roomFor(one, width)) !== meaningOf(one))
}

/** What can be allowed from now on, whole. */
function coverLines({ decision: { grants = [] } }: Ask, width: number): Line[] {
  return grants.flatMap(({ covers }) =>
    wrap(line(visible(`Always: ${covers}`, 'approval-prompt'), 'quiet'), width, [{ text: '  ' }]),
  )
}

/** Pieces side by side, as many as fit: a key is never parted from its meaning. */
function flow(pieces: readonly Line[], width: number, gap: string): Line[] {
  const rows: Line[] = []
  for (const piece of pieces) {
    const row = rows.at(-1)
    const longer: Line = row ? [...row, { text: gap }, ...piece] : piece
    if (row && lineWidth(longer) <= width) rows[rows.length - 1] = longer
    else rows.push(piece)
  }
  return rows
}
