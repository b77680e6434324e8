import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defined } from '../src/model/defined.ts'
import { createLoopScript } from '../src/rehearsal/builtin-scripts/loop.ts'
import { startRehearsalServer } from '../src/rehearsal/server.ts'
import { median } from './support/measure.ts'
import { type BenchmarkRow, reportTable } from './support/report.ts'
import { BENCH_PROVIDERS, type BenchProvider, createRow, dragoman, floor, medianGap } from './support/run-program.ts'
import { type ProgramRun, startProgramRunner } from './support/run-program.ts'

const ROUNDS = Number(process.env['DRAGOMAN_ROUNDS'] ?? 7)
const CHUNKS = 20_000
/** Other versions of Node have tables of their own. */
const SECTIONS: Readonly<Record<string, string>> = { 22: 'agent-node-22', 24: 'agent-node-24' }
const section = SECTIONS[process.versions.node.split('.', 1)[0] ?? ''] ?? 'agent'

const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'))
// A different file each time: who reads the same one over and over is stopped.
for (let turn = 0; turn <= 201; turn++)
  writeFileSync(join(folder, `notes-${turn}.txt`), 'A line of notes.\n'.repeat(40))
const READ_CALL = { name: 'read_file', args: { absolute_path: join(folder, 'notes-{n}.txt') } }
const scripts = {
  text: { steps: [{ say: 'Hello there.' }] },
  twenty: createLoopScript(20, READ_CALL),
  long: createLoopScript(200, READ_CALL),
  stream: { steps: [{ say: 'word '.repeat(CHUNKS), pieces: CHUNKS }] },
}
const runner = await startProgramRunner(scripts, folder)
// The body is looked at where it is recorded; the measured server records nothing.
const recordingServer = await startRehearsalServer({ scripts, paceMs: 0 })

const compare = (script: string, rounds = ROUNDS, provider?: BenchProvider) =>
  runner.compare([floor(), dragoman(defined({ provider }))], script, folder, rounds)
const medianGapBetween = ({ gaps }: ProgramRun, from: number, to: number): number => median(gaps.slice(from, to))

try {
  const text = await compare('text')
  const afterBuild = await runner.compareStarts('text', folder, ROUNDS, true)
  const afterInstall = await runner.compareStarts('text', folder, ROUNDS, false)
  const gapRows: BenchmarkRow[] = []
  for (const provider of BENCH_PROVIDERS) {
    const runs = await compare('twenty', ROUNDS, provider)
    gapRows.push(
      createRow(`from a response to the next request, 20 turns with a tool, ${provider}`, 1.7, runs, medianGap),
    )
  }
  const long = await compare('long', 5)
  const stream = await compare('stream', 5)
  await runner.run(dragoman(), 'text', folder, recordingServer.url)
  const body = recordingServer.requests[0]?.bytes.length ?? Number.NaN
  const late = long.mine.map((run) => medianGapBetween(run, 180, 200) / medianGapBetween(run, 10, 30))
  reportTable(
    section,
    `The command (\`dragoman -p\`, with its durable log) compared with a script of 60 lines that uses only \`fetch\` and has the same session with the same server; medians of ${ROUNDS} alternating rounds. Node ${process.version}.`,
    [
      createRow('process start to first request', 1.15, text, ({ firstRequestMs }) => firstRequestMs),
      createRow('the same, first start after a build against later ones', 1.5, afterBuild, (one) => one.firstRequestMs),
      createRow(
        'the same, first start after an installation without a build',
        1.5,
        afterInstall,
        (one) => one.firstRequestMs,
      ),
      createRow('whole run, one text turn, from start to exit', 0.8, text, ({ totalMs }) => totalMs),
      ...gapRows,
      createRow('the same, 200 turns, openai-chat', 1.7, long, medianGap),
      {
        label: 'the same at turn 200 against turn 20',
        figures: `${median(long.mine.map((run) => medianGapBetween(run, 180, 200))).toFixed(2)} ms against ${median(long.mine.map((run) => medianGapBetween(run, 10, 30))).toFixed(2)} ms`,
        ratio: median(late),
        maxRatio: 1.2,
      },
      createRow(`a stream of ${CHUNKS} chunks, whole run`, 1.3, stream, ({ totalMs }) => totalMs),
      createRow('peak memory, 200 turns', 1.5, long, ({ peakKb }) => peakKb / 1000, 'MB'),
      {
        label: 'body of the first request, with all tools',
        figures: `${body} bytes against 16384`,
        ratio: body / 16_384,
        maxRatio: 1,
      },
    ],
  )
} finally {
  await runner.close()
  await recordingServer.close()
  rmSync(folder, { recursive: true, force: true })
}
