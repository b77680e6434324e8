import type { State } from '../state.ts'
import type { Editor } from '../input/editor.ts'
import { type Line, line, plain, wrap } from '../term/line.ts'
import type { Spot } from '../term/screen.ts'
import { widthOf } from '../term/width.ts'

/** Lines, and where the cursor stands in them. */
export interface Placed {
  readonly lines: readonly Line[]
  readonly cursor?: Spot
}

/** So many rows of a long text are shown at once. */
const MOST_ROWS = 12

/** The text that is being written, with the cursor in it. */
export function editorLines(editor: Editor, { width, mark }: { width: number; mark: string }): Placed {
  const room = Math.max(width - widthOf(mark) - 1, 8)
  const rows: string[] = []
  let cursor = { row: 0, column: 0 }
  let offset = 0
  for (const text of editor.text.split('\n')) {
    const within = editor.cursor - offset
    const broken = hardBroken(text, room)
    if (within >= 0 && within <= text.length) cursor = spotIn(broken, within, rows.length)
    rows.push(...broken)
    offset += text.length + 1
  }
  const top = Math.max(Math.min(cursor.row - Math.floor(MOST_ROWS / 2), rows.length - MOST_ROWS), 0)
  const lines = rows
    .slice(top, top + MOST_ROWS)
    .map((text, at): Line => [{ text: at === 0 ? mark : ' '.repeat(widthOf(mark)), tone: 'accent' }, { text }])
  return { lines, cursor: { row: cursor.row - top, column: widthOf(mark) + cursor.column } }
}

/** What can be chosen from. */
export function menuLines({ menu }: State, width: number): Line[] {
  if (!menu) return []
  const top = Math.max(Math.min(menu.at - 3, menu.items.length - 8), 0)
  const longest = Math.min(Math.max(...menu.items.map(({ value }) => widthOf(value)), 0), Math.floor(width / 2))
  return menu.items.slice(top, top + 8).map(({ value, about = '' }, at): Line => {
    const isChosen = top + at === menu.at
    const gap = ' '.repeat(Math.max(longest - widthOf(value), 0) + 2)
    return [
      { text: isChosen ? '› ' : '  ', tone: 'accent' },
      { text: value, tone: isChosen ? 'strong' : 'plain' },
      { text: gap + about, tone: 'quiet' },
    ]
  })
}

/** What waits until the model has finished its turn. */
export function queuedLines({ queued }: State, width: number): Line[] {
  return queued.flatMap((text) => wrap(line(`⏳ ${text.split('\n', 1)[0] ?? ''}`, 'quiet'), width).slice(0, 1))
}

function hardBroken(text: string, room: number): string[] {
  return wrap(line(text.replaceAll(' ', '\u00A0')), room).map((one) => plain(one).replaceAll('\u00A0', ' '))
}

function spotIn(rows: readonly string[], within: number, above: number): Spot {
  let left = within
  for (const [at, row] of rows.entries()) {
    if (left < row.length || at === rows.length - 1) return { row: above + at, column: widthOf(row.slice(0, left)) }
    left -= row.length
  }
  return { row: above, column: 0 }
}
