import type { Ask } from '../../../agent/call-state.ts'
import { visible } from '../../output/visible.ts'
import type { Asking } from '../state.ts'
import { type Line, line, lineWidth, type Span, wrap } from '../term/line.ts'
import { diffLines, diffSize } from './diff.ts'
import { editorLines, type Placed } from './input.ts'

/** A question to the person: what would happen, whole, and the answers that there are. */
export function askLines(
  asks: readonly Ask[],
  asking: Asking,
  { width, rows }: { width: number; rows: number },
): Placed {
  const ask = asks[asking.at] ?? asks[0]
  if (!ask) return { lines: [] }
  const count = asks.length > 1 ? ` (${asking.at + 1} of ${asks.length}, ←→)` : ''
  const head = wrap(
    [
      { text: '? ', tone: 'warn' },
      { text: visible(title(ask), 'file-name'), tone: 'strong' },
      { text: count, tone: 'quiet' },
    ],
    width,
  )
  const body = matter(ask, width)
  const foot = [...why(ask, width), ...answers(ask, asks, asking, width)]
  const room = Math.max(rows - head.length - foot.length - 5, 4)
  const top = Math.min(asking.top, Math.max(body.length - room, 0))
  const part = body.slice(top, top + room)
  const more =
    body.length > room ? [line(`… lines ${top + 1}–${top + part.length} of ${body.length}, PgUp/PgDn`, 'quiet')] : []
  const lines = [...head, ...part, ...more, ...foot]
  if (!asking.why) return { lines }
  const reason = editorLines(asking.why, { width, mark: 'Why not? ' })
  return {
    lines: [...lines, ...reason.lines],
    ...(reason.cursor && { cursor: { row: lines.length + reason.cursor.row, column: reason.cursor.column } }),
  }
}

/** How many lines the matter of a question has, so that paging knows its end. */
export function matterHeight(ask: Ask, width: number): number {
  return matter(ask, width).length
}

function title({ details }: Ask): string {
  if (details.kind === 'edit') {
    const { added, removed } = diffSize(details.fileDiff)
    return `${details.originalContent === null ? 'Make' : 'Change'} ${details.filePath}? +${added} −${removed}`
  }
  if (details.kind === 'exec') return `Run this in ${details.folder}?`
  if (details.kind === 'mcp') return `Call ${details.toolDisplayName} of the server ${details.serverName}?`
  return details.title
}

/** Nothing is left out of what is asked about: a person must be able to see all of it. */
function matter({ details }: Ask, width: number): Line[] {
  if (details.kind === 'edit') return diffLines(visible(details.fileDiff, 'diff'), width)
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

function why({ decision }: Ask, width: number): Line[] {
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
