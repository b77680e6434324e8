import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../test/support/paths.ts'

/** A row of a benchmark: what was done, what it cost against its floor, and how much it may cost. */
export interface BenchmarkRow {
  readonly label: string
  readonly figures: string
  readonly ratio: number
  readonly maxRatio: number
}

const PERFORMANCE_PAGE = join(root, 'docs/performance.md')

/** Prints a table, and writes it into its section of docs/performance.md. A ratio over its limit makes the run fail, and is not published. */
export function reportTable(section: string, about: string, rows: readonly BenchmarkRow[]): void {
  const lines = rows.map(
    ({ label, figures, ratio, maxRatio }) => `| ${label} | ${figures} | ${ratio.toFixed(2)}× | ${maxRatio}× |`,
  )
  const table = [about, '', '| what | figures | ratio | at most |', '|---|---|---|---|', ...lines].join('\n')
  process.stdout.write(`${table}\n`)
  const over = rows.filter(({ ratio, maxRatio }) => !(ratio <= maxRatio))
  for (const { label } of over) process.stderr.write(`over its limit, so the page is left as it is: ${label}\n`)
  if (over.length > 0) {
    process.exitCode = 1
    return
  }
  publishSection(section, table, true)
}

/** Writes a text into its section of docs/performance.md, and prints it unless that was done. */
export function publishSection(section: string, text: string, isPrinted = false): void {
  if (!isPrinted) process.stdout.write(`${text}\n`)
  const [open, close] = [`<!-- ${section} -->`, `<!-- end of ${section} -->`]
  const page = readFileSync(PERFORMANCE_PAGE, 'utf8')
  const from = page.indexOf(open)
  const to = page.indexOf(close)
  if (from < 0 || to < 0) throw new Error(`docs/performance.md has no section ${section}`)
  writeFileSync(PERFORMANCE_PAGE, `${page.slice(0, from + open.length)}\n${text}\n${page.slice(to)}`)
}
