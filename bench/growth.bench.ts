import { listAgentCases } from './growth/agent-cases.ts'
import { listDecodeCases } from './growth/decode-cases.ts'
import { listRequestCases } from './growth/request-cases.ts'
import { listStoreCases, measureOpeningBlock } from './growth/store-cases.ts'
import { listToolCases } from './growth/tool-cases.ts'
import { listWorkspaceCases } from './growth/workspace-cases.ts'
import { type GrowthCase, measureGrowth } from './support/growth.ts'
import { type BenchmarkRow, reportTable } from './support/report.ts'

/** `DRAGOMAN_GROWTH=anthropic npm run bench -- growth` measures only the rows with this word. */
const word = process.env['DRAGOMAN_GROWTH'] ?? ''
const cases: GrowthCase[] = [
  ...(await listAgentCases()),
  ...listStoreCases(),
  ...listWorkspaceCases(),
  ...(await listToolCases()),
  ...(await listRequestCases()),
  ...(await listDecodeCases()),
]
// Some timers do not keep a process alive, as a terminal does.
const alive = setInterval(() => undefined, 1000)
const rows: BenchmarkRow[] = []
for (const one of cases.filter(({ label }) => label.includes(word))) {
  const row = await measureGrowth(one)
  process.stderr.write(`${row.ratio.toFixed(2).padStart(6)}  ${row.label}  ${row.figures}\n`)
  rows.push(row)
}
clearInterval(alive)
if (word === '') rows.push(await measureOpeningBlock())
if (word === '')
  reportTable(
    'growth',
    `Each at three sizes; processor time, and the clock where other processes take part. Node ${process.version}.`,
    rows,
  )
