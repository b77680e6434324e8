import { exactRows } from '../term/exact.ts'
import { type Line, line, type Span, type Tone } from '../term/line.ts'

/** A unified diff in colour, with the line numbers of the new file (of the old one where lines go). */
export function diffLines(diff: string, width: number): Line[] {
  const rows = rowsOf(diff)
  const digits = String(Math.max(...rows.map(farthest), 1)).length
  let [before, after] = [0, 0]
  const out: Line[] = []
  for (const row of rows) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(row)
    if (hunk) {
      ;[before, after] = [Number(hunk[1]), Number(hunk[2])]
      if (out.length > 0) out.push(line('⋯', 'quiet'))
    } else if (row.startsWith('\\ ')) out.push(line(`${' '.repeat(digits + 1)}${row}`, 'quiet'))
    else if (row.startsWith('+')) out.push(...numbered(after++, row, 'added', digits, width))
    else if (row.startsWith('-')) out.push(...numbered(before++, row, 'removed', digits, width))
    else if (row !== '' || before > 0) {
      if (row === '') continue
      out.push(...numbered(after++, row, undefined, digits, width))
      before++
    }
  }
  return out
}

/** How many lines a diff adds and takes away. */
export function diffSize(diff: string): { readonly added: number; readonly removed: number } {
  const rows = rowsOf(diff)
  return {
    added: rows.filter((row) => row.startsWith('+')).length,
    removed: rows.filter((row) => row.startsWith('-')).length,
  }
}

/** What a diff says of the file. Its head ends where the first hunk begins: a line `--- x` in there is one of the file. */
function rowsOf(diff: string): string[] {
  const rows = diff.split('\n')
  const first = rows.findIndex((row) => row.startsWith('@@ '))
  const start = first >= 0 ? first : rows.findIndex((row) => !/^(?:Index: |=+$|--- |\+\+\+ )/.test(row))
  return rows.slice(start)
}

function numbered(number: number, row: string, tone: Tone | undefined, digits: number, width: number): Line[] {
  const sign: Span = { text: row.slice(0, 1), ...(tone && { tone }) }
  const margin: Span = { text: `${String(number).padStart(digits)} `, tone: 'quiet' }
  const next: Span = { text: `${' '.repeat(digits)} ┆`, tone: 'quiet' }
  return exactRows(row.slice(1), { width, first: [margin, sign], next: [next], ...(tone && { tone }) })
}

function farthest(row: string): number {
  const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?/.exec(row)
  if (!hunk) return 0
  return Math.max(Number(hunk[1]) + Number(hunk[2] ?? 1), Number(hunk[3]) + Number(hunk[4] ?? 1))
}
