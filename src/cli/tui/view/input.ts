import type { State } from '../state.ts'
import type { Editor } from '../input/editor.ts'
import { rowAt, rowsIn } from '../input/rows.ts'
import { cut, type Line, line, wrap } from '../term/line.ts'
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
export function editorLines(
  editor: Editor,
  { width, mark, most = MOST_ROWS }: { width: number; mark: string; most?: number },
): Placed {
  const rows = rowsIn(editor.text, inputRoom(width, mark))
  const at = rowAt(rows, editor.cursor)
  const here = rows[at] ?? { text: '', start: 0 }
  const top = Math.max(Math.min(at - Math.floor(most / 2), rows.length - most), 0)
  const lines = rows
    .slice(top, top + most)
    .map(({ text }, row): Line => [{ text: row === 0 ? mark : ' '.repeat(widthOf(mark)), tone: 'accent' }, { text }])
  const column = widthOf(mark) + widthOf(here.text.slice(0, editor.cursor - here.start))
  return { lines, cursor: { row: at - top, column } }
}

/** How many columns a text has that is being written; the cursor needs one of its own behind it. */
export function inputRoom(width: number, mark = '> '): number {
  return Math.max(width - widthOf(mark) - 1, 8)
}

/** What can be chosen from. */
export function menuLines({ menu }: State, width: number): Line[] {
  if (!menu) return []
  const top = Math.max(Math.min(menu.at - 3, menu.items.length - 8), 0)
  const longest = Math.min(Math.max(...menu.items.map(({ value }) => widthOf(value)), 0), Math.floor(width / 2))
  return menu.items.slice(top, top + 8).map(({ value, about = '' }, at): Line => {
    const isChosen = top + at === menu.at
    const gap = ' '.repeat(Math.max(longest - widthOf(value), 0) + 2)
    const row: Line = [
      { text: isChosen ? '› ' : '  ', tone: 'accent' },
      { text: value, tone: isChosen ? 'strong' : 'plain' },
      { text: gap + about, tone: 'quiet' },
    ]
    return cut(row, width)
  })
}

/** What waits until the model has finished its turn. */
export function queuedLines({ queued }: State, width: number): Line[] {
  return queued.flatMap((text) => wrap(line(`⏳ ${text.split('\n', 1)[0] ?? ''}`, 'quiet'), width).slice(0, 1))
}
