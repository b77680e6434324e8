import type { Ask } from '../../../agent/call-state.ts'
import { visible } from '../../output/visible.ts'
import type { Asking, State } from '../state.ts'
import { cut, type Line, line, lineWidth, type Span, wrap } from '../term/line.ts'
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
  const { head, body, foot, room, last, reason } = parts(asks, asking, look)
  const top = Math.min(asking.top, last)
  const part = body.slice(top, top + room)
  const more = last > 0 ? [cut(line(pageMark(top, part.length, body.length), 'quiet'), look.width)] : []
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

/** What was being written when the question came: it stays in sight, and leaves the question its room. */
export function draftLines({ editor }: Pick<State, 'editor'>, { width, rows }: AskLook): readonly Line[] {
  return editor.text === '' ? [] : editorLines(editor, { width, mark: '> ', most: ownRows(rows) }).lines
}

/** The rows of a terminal that are free for a question: one stays empty, one has the status, some have the draft. */
export function askRoom(state: Pick<State, 'editor'>, look: AskLook): AskLook {
  return { ...look, rows: look.rows - 2 - draftLines(state, look).length }
}

/** So many rows have the person's own words beside a question. */
function ownRows(rows: number): number {
  return Math.max(Math.floor(rows / 6), 1)
}

function pageMark(top: number, count: number, all: number): string {
  return `… lines ${top + 1}–${top + count} of ${all}, PgUp/PgDn`
}

/** So many lines of what is asked about must be there at once; where they are not, all the rest is made short. */
const LEAST = 4

function parts(asks: readonly Ask[], asking: Asking, look: AskLook) {
  const ask = asks[asking.at] ?? asks[0]
  if (!ask) return { head: [], body: [], foot: [], reason: undefined, room: 0, last: 0 }
  const { width, root } = look
  const reason = asking.why && editorLines(asking.why, { width, mark: 'Why not? ', most: ownRows(look.rows) })
  const rows = look.rows - (reason?.lines.length ?? 0)
  const name = visible(title(ask, root), 'file-name')
  const count = asks.length > 1 ? ` (${asking.at + 1} of ${asks.length}, ←→)` : ''
  const { body, because, covered } = textsOf(ask, width)
  const keys = answers(ask, asks, asking)
  const head = wrap(headLine(name, count), width)
  const foot = [...because, ...keyLines(keys, width)]
  if (head.length + foot.length + Math.min(LEAST, body.length) < rows)
    return { head, body, foot, reason, ...pages(body, rows - head.length - foot.length) }
  // What has no room beside the thing itself stands below it, whole, and is reached like the rest of it.
  const short = [headLine(inOneRow(name, Math.max(width - 2 - count.length, 8)), count)]
  const below = [[], ...(head.length > 1 ? wrap(line(name), width) : []), ...because, ...covered]
  const longer = [...body, ...below]
  const inWords = keyLines(
    keys.map(({ key, brief }) => ({ key, meaning: brief })),
    width,
    ' ',
  )
  const tight =
    inWords.length + 3 <= rows
      ? inWords
      : flow(
          keys.map(({ key }) => line(`[${key}]`, 'accent')),
          width,
          ' ',
        )
  return { head: short, body: longer, foot: tight, reason, ...pages(longer, rows - short.length - tight.length) }
}

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
  if (details.kind === 'mcp') return `Call ${details.toolDisplayName} of the server ${details.serverName}?`
  return details.title
}

interface Texts {
  readonly width: number
  readonly body: readonly Line[]
  readonly because: readonly Line[]
  readonly covered: readonly Line[]
}

/** The lines of a question, which may be many, are made once and not at every key. */
function textsOf(ask: Ask, width: number): Texts {
  const former = made.get(ask)
  if (former?.width === width) return former
  const texts = { width, body: matter(ask, width), because: why(ask, width), covered: coverLines(ask, width) }
  made.set(ask, texts)
  return texts
}

const made = new WeakMap<Ask, Texts>()

/** Nothing is left out of what is asked about: a person must be able to see all of it. */
function matter({ details }: Ask, width: number): Line[] {
  if (details.kind === 'edit') {
    const lines = diffLines(visible(details.fileDiff, 'diff'), width)
    return lines.length > 0 ? lines : [line('Nothing would change.', 'quiet')]
  }
  if (details.kind === 'exec') return behindBar(details.command, width)
  if (details.kind === 'mcp') {
    const { toolName, input = '', changes } = details
    const news = changes === undefined ? [] : ['It has changed since you allowed it:', changes, '']
    return behindBar([...news, `${toolName} ${input}`].join('\n'), width)
  }
  return behindBar([details.prompt, ...(details.urls ?? [])].join('\n'), width)
}

/** What others wrote stands behind a bar, so that it cannot pass for the question. */
function behindBar(text: string, width: number): Line[] {
  return visible(text, 'approval-prompt')
    .split('\n')
    .flatMap((one) => wrap([BAR, { text: one, tone: 'code' }], width, [{ text: '│   ', tone: 'quiet' }]))
}

const BAR: Span = { text: '│ ', tone: 'quiet' }

function why({ decision, details }: Ask, width: number): Line[] {
  // The title says that already.
  if (details.kind === 'edit' && decision.why === `It changes ${details.filePath}.`) return []
  return wrap(line(inOneRow(visible(decision.why, 'approval-prompt'), LONGEST), 'quiet'), width)
}

/** More columns than this no reason needs; it may quote a command, which stands above anyway. */
const LONGEST = 240

/** An answer: its key, what it means, and that in a word. */
interface Answer {
  readonly key: string
  readonly meaning: string
  readonly brief: string
}

function answers(ask: Ask, asks: readonly Ask[], asking: Asking): readonly Answer[] {
  if (asking.why)
    return [
      { key: 'Enter', meaning: 'sends this to the model', brief: 'sends' },
      { key: 'Esc', meaning: 'goes back', brief: 'back' },
    ]
  const { details, decision } = ask
  const others = asks.filter((one) => one.details.kind === 'edit')
  const unseen = others.filter(({ id }) => !asking.seen.includes(id) && id !== ask.id).length
  const all: readonly (Answer | false)[] = [
    { key: 'y', meaning: 'yes, once', brief: 'yes' },
    decision.covers !== undefined && { key: 'a', meaning: `always: ${decision.covers}`, brief: 'always' },
    decision.covers !== undefined && { key: 'f', meaning: 'the same for good', brief: 'for good' },
    details.kind === 'mcp' && { key: 's', meaning: `always, all of ${details.serverName}`, brief: 'server' },
    details.kind === 'edit' && { key: 'e', meaning: 'edit it first', brief: 'edit' },
    details.kind === 'info' && details.form !== undefined && { key: 'e', meaning: 'fill it in', brief: 'fill in' },
    others.length > 1 && {
      key: 'A',
      meaning: unseen === 0 ? `all ${others.length} edits` : `all edits, after the other ${unseen}`,
      brief: 'all',
    },
    { key: 'n', meaning: 'no, and say why', brief: 'no…' },
    { key: 'Esc', meaning: 'no', brief: 'no' },
  ]
  return all.filter((one) => one !== false)
}

/** The answers; each is in one row, however long the text that it names. */
function keyLines(keys: readonly Pick<Answer, 'key' | 'meaning'>[], width: number, gap = '   '): Line[] {
  return flow(
    keys.map(({ key, meaning }) => [
      { text: `[${key}] `, tone: 'accent' as const },
      { text: inOneRow(visible(meaning, 'approval-prompt'), Math.max(width - key.length - 3, 8)) },
    ]),
    width,
    gap,
  )
}

function coverLines({ decision: { covers } }: Ask, width: number): Line[] {
  if (covers === undefined) return []
  return wrap(line(inOneRow(visible(`Always: ${covers}`, 'approval-prompt'), LONGEST), 'quiet'), width)
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
