import { layoutExactRows } from '../term/exact-rows.ts'
import { type StyledLine, styledLine, type StyledSpan, type TextTone } from '../term/styled-line.ts'

/** A unified diff with the line numbers of the new file (for removed lines, of the old one). */
export function renderDiff(diff: string, width: number): StyledLine[] {
  const rows = splitHunkRows(diff)
  const digits = String(Math.max(...rows.map(lastLineNumber), 1)).length
  let [before, after] = [0, 0]
  const out: StyledLine[] = []
  for (const row of rows) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(row)
    if (hunk) {
      ;[before, after] = [Number(hunk[1]), Number(hunk[2])]
      if (out.length > 0) out.push(styledLine('⋯', 'quiet'))
    } else if (row.startsWith('\\ ')) out.push(styledLine(`${' '.repeat(digits + 1)}${row}`, 'quiet'))
    else if (row.startsWith('+')) out.push(...renderNumberedRow(after++, row, 'added', digits, width))
    else if (row.startsWith('-')) out.push(...renderNumberedRow(before++, row, 'removed', digits, width))
    else if (row !== '') {
      out.push(...renderNumberedRow(after++, row, undefined, digits, width))
      before++
    }
  }
  return out
}

export function countDiffLines(diff: string): { readonly added: number; readonly removed: number } {
  const rows = splitHunkRows(diff)
  return {
    added: rows.filter((row) => row.startsWith('+')).length,
    removed: rows.filter((row) => row.startsWith('-')).length,
  }
}

/** The rows of the hunks. The header ends at the first hunk: after it, a line `--- x` is content. */
function splitHunkRows(diff: string): string[] {
  const rows = diff.split('\n')
  const first = rows.findIndex((row) => row.startsWith('@@ '))
  const start = first >= 0 ? first : rows.findIndex((row) => !/^(?:Index: |=+$|--- |\+\+\+ )/.test(row))
  return rows.slice(start)
}

function renderNumberedRow(
  number: number,
  row: string,
  tone: TextTone | undefined,
  digits: number,
  width: number,
): StyledLine[] {
  const sign: StyledSpan = { text: row.slice(0, 1), ...(tone && { tone }) }
  const margin: StyledSpan = { text: `${String(number).padStart(digits)} `, tone: 'quiet' }
  const next: StyledSpan = { text: `${' '.repeat(digits)} ┆`, tone: 'quiet' }
  return layoutExactRows(row.slice(1), { width, first: [margin, sign], next: [next], ...(tone && { tone }) })
}

function lastLineNumber(row: string): number {
  const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?/.exec(row)
  if (!hunk) return 0
  return Math.max(Number(hunk[1]) + Number(hunk[2] ?? 1), Number(hunk[3]) + Number(hunk[4] ?? 1))
}
