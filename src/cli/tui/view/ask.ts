import type { Ask } from '../../../agent/call-state.ts'
import { visible } from '../../output/visible.ts'
import type { Asking } from '../state.ts'
import { type Line, line, lineWidth, type Span, wrap } from '../term/line.ts'
import { diffLines, diffSize } from './diff.ts'
import { editorLines, type Placed } from './input.ts'
import { pathFrom } from './path.ts'

/** What a question needs to know of the terminal, and the folder that paths are shown from. */
export interface AskLook {
  readonly width: number
  readonly rows: number
  readonly root?: string | undefined
}

/** A question to the person: what would happen, whole, and the answers that there are. */
export function askLines(asks: readonly Ask[], asking: Asking, look: AskLook): Placed {
  const { head, body, foot, room, last } = parts(asks, asking, look)
  const top = Math.min(asking.top, last)
  const part = body.slice(top, top + room)
  const more = last > 0 ? [line(`… lines ${top + 1}–${top + part.length} of ${body.length}, PgUp/PgDn`, 'quiet')] : []
  const lines = [...head, ...part, ...more, ...foot]
  if (!asking.why) return { lines }
  const reason = editorLines(asking.why, { width: look.width, mark: 'Why not? ' })
  return {
    lines: [...lines, ...reason.lines],
    ...(reason.cursor && { cursor: { row: lines.length + reason.cursor.row, column: reason.cursor.column } }),
  }
}

/** How many lines of a question are shown at once, and the last line with which a page can begin. */
export function askWindow(asks: readonly Ask[], asking: Asking, look: AskLook): { room: number; last: number } {
  return parts(asks, asking, look)
}

function parts(asks: readonly Ask[], asking: Asking, look: AskLook) {
  const ask = asks[asking.at] ?? asks[0]
  if (!ask) return { head: [], body: [], foot: [], room: 0, last: 0 }
  const { width, rows, root } = look
  const count = asks.length > 1 ? ` (${asking.at + 1} of ${asks.length}, ←→)` : ''
  const head = wrap(
    [
      { text: '? ', tone: 'warn' },
      { text: visible(title(ask, root), 'file-name'), tone: 'strong' },
      { text: count, tone: 'quiet' },
    ],
    width,
  )
  const body = matter(ask, width)
  const foot = [...why(ask, width), ...answers(ask, asks, asking, width)]
  const room = Math.max(rows - head.length - foot.length - 5, 4)
  return { head, body, foot, room, last: Math.max(body.length - room, 0) }
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
  return wrap(line(visible(decision.why, 'approval-prompt'), 'quiet'), width)
}

function answers(ask: Ask, asks: readonly Ask[], asking: Asking, width: number): Line[] {
  if (asking.why) return [line('Enter sends this to the model, Esc goes back.', 'quiet')]
  const others = asks.filter(({ details }) => details.kind === 'edit')
  const unseen = others.filter(({ id }) => !asking.seen.includes(id) && id !== ask.id).length
  const all: readonly (readonly [key: string, meaning: string])[] = [
    ['y', 'yes, once'],
    ...(ask.decision.covers === undefined
      ? []
      : ([
          ['a', `always: ${ask.decision.covers}`],
          ['f', 'the same for good'],
        ] as const)),
    ...(ask.details.kind === 'mcp' ? [['s', `always, all of ${ask.details.serverName}`] as const] : []),
    ...(ask.details.kind === 'edit' ? [['e', 'edit it first'] as const] : []),
    ...(ask.details.kind === 'info' && ask.details.form ? [['e', 'fill it in'] as const] : []),
    ...(others.length > 1
      ? [['A', unseen === 0 ? `all ${others.length} edits` : `all edits, after the other ${unseen}`] as const]
      : []),
    ['n', 'no, and say why'],
    ['Esc', 'no'],
  ]
  return flow(
    all.map(([key, meaning]) => [
      { text: `[${key}] `, tone: 'accent' as const },
      { text: visible(meaning, 'approval-prompt') },
    ]),
    width,
  )
}

/** Pieces side by side, as many as fit: a key is never parted from its meaning. */
function flow(pieces: readonly Line[], width: number): Line[] {
  const rows: Line[] = []
  for (const piece of pieces) {
    const row = rows.at(-1)
    const longer: Line = row ? [...row, { text: '   ' }, ...piece] : piece
    if (row && lineWidth(longer) <= width) rows[rows.length - 1] = longer
    else rows.push(piece)
  }
  return rows.flatMap((row) => wrap(row, width, [{ text: '    ' }]))
}
