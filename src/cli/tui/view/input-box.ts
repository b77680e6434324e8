import type { UiState } from '../ui-state.ts'
import type { EditorState } from '../input/text-editor.ts'
import { findRowIndex, layoutRows } from '../input/text-rows.ts'
import { clipLine, type StyledLine, styledLine, wrapLine } from '../term/styled-line.ts'
import type { CursorPosition } from '../term/screen.ts'
import { displayWidth } from '../term/display-width.ts'

export interface LinesWithCursor {
  readonly lines: readonly StyledLine[]
  readonly cursor?: CursorPosition
}

const MAX_INPUT_ROWS = 12

export function renderEditor(
  editor: EditorState,
  { width, mark: promptMark, most: maxRows = MAX_INPUT_ROWS }: { width: number; mark: string; most?: number },
): LinesWithCursor {
  const rows = layoutRows(editor.text, countInputColumns(width, promptMark))
  const at = findRowIndex(rows, editor.cursor)
  const cursorRow = rows[at] ?? { text: '', start: 0 }
  const top = Math.max(Math.min(at - Math.floor(maxRows / 2), rows.length - maxRows), 0)
  const lines = rows
    .slice(top, top + maxRows)
    .map(({ text }, row): StyledLine => [
      { text: row === 0 ? promptMark : ' '.repeat(displayWidth(promptMark)), tone: 'accent' },
      { text },
    ])
  const column = displayWidth(promptMark) + displayWidth(cursorRow.text.slice(0, editor.cursor - cursorRow.start))
  return { lines, cursor: { row: at - top, column } }
}

/** The columns for the text of the input; the cursor needs one behind it. */
export function countInputColumns(width: number, promptMark = '> '): number {
  return Math.max(width - displayWidth(promptMark) - 1, 8)
}

export function renderMenu({ menu }: UiState, width: number): StyledLine[] {
  if (!menu) return []
  const top = Math.max(Math.min(menu.selected - 3, menu.items.length - 8), 0)
  const longest = Math.min(Math.max(...menu.items.map(({ value }) => displayWidth(value)), 0), Math.floor(width / 2))
  return menu.items.slice(top, top + 8).map(({ value, about = '' }, at): StyledLine => {
    const isChosen = top + at === menu.selected
    const gap = ' '.repeat(Math.max(longest - displayWidth(value), 0) + 2)
    const row: StyledLine = [
      { text: isChosen ? '› ' : '  ', tone: 'accent' },
      { text: value, tone: isChosen ? 'strong' : 'plain' },
      { text: gap + about, tone: 'quiet' },
    ]
    return clipLine(row, width)
  })
}

export function renderQueue({ queued }: UiState, width: number): StyledLine[] {
  return queued.flatMap((text) =>
    wrapLine(styledLine(`⏳ ${text.split('\n', 1)[0] ?? ''}`, 'quiet'), width).slice(0, 1),
  )
}
