import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLoopScript } from '../src/rehearsal/builtin-scripts/loop.ts'
import { startRehearsalServer } from '../src/rehearsal/server.ts'
import { root } from '../test/support/paths.ts'
import { median } from './support/measure.ts'
import { reportTable, type BenchmarkRow } from './support/report.ts'

const ROUNDS = Number(process.env['DRAGOMAN_ROUNDS'] ?? 7)
const CHUNKS = 20_000

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
const timestamps: { asked: number[]; answered: number[] } = { asked: [], answered: [] }
const server = await startRehearsalServer({
  scripts,
  paceMs: 0,
  isLightweight: true,
  onTraffic: (moment) => timestamps[moment].push(now()),
})
// The body is looked at where it is recorded; the measured server records nothing.
const recordingServer = await startRehearsalServer({ scripts, paceMs: 0 })

/** What one run of a program was like. */
interface ProgramRun {
  readonly firstRequestMs: number
  readonly totalMs: number
  readonly gaps: readonly number[]
  readonly peakKb: number
}

type ProgramArgs = (script: string, url?: string) => readonly string[]

const floor: ProgramArgs = (script) => [join(root, 'bench/support/floor.mjs'), server.url, script, 'go']
const dragoman: ProgramArgs = (script) => [
  join(root, 'bin/dragoman'),
  '-p',
  'go',
  '-m',
  `openai-chat/${script}`,
  '--yolo',
]

function now(): number {
  return performance.now()
}

function runProgram(program: ProgramArgs, script: string, url = server.url): Promise<ProgramRun> {
  timestamps.asked = []
  timestamps.answered = []
  const home = mkdtempSync(join(folder, 'home-'))
  const env = { PATH: process.env['PATH'], HOME: home, OPENAI_API_KEY: 'k', DRAGOMAN_OPENAI_CHAT_BASE_URL: `${url}/v1` }
  const started = now()
  const child = spawn(process.execPath, program(script), { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
  child.stdout.resume()
  let peak = 0
  const look = setInterval(() => {
    peak = Math.max(peak, readPeakMemory(child.pid ?? 0))
  }, 20)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      clearInterval(look)
      const whole = now() - started
      if (code !== 0) return reject(new Error(`${program(script).join(' ')} ended with ${code}`))
      const { asked, answered } = timestamps
      const gaps = asked.slice(1).map((at, turn) => at - (answered[turn] ?? Number.NaN))
      resolve({ firstRequestMs: (asked[0] ?? Number.NaN) - started, totalMs: whole, gaps, peakKb: peak })
    })
  })
}

/** The most memory that a process had so far, in kB. */
function readPeakMemory(pid: number): number {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Both programs in turn, so that a busy moment of the machine hits both. */
async function compare(script: string, rounds = ROUNDS): Promise<{ base: ProgramRun[]; mine: ProgramRun[] }> {
  const runs: { base: ProgramRun[]; mine: ProgramRun[] } = { base: [], mine: [] }
  for (let round = 0; round <= rounds; round++) {
    const base = await runProgram(floor, script)
    const mine = await runProgram(dragoman, script)
    // The first round fills the caches of the disk.
    if (round === 0) continue
    runs.base.push(base)
    runs.mine.push(mine)
  }
  return runs
}

function createRow(
  what: string,
  limit: number,
  { base, mine }: { base: ProgramRun[]; mine: ProgramRun[] },
  of: (run: ProgramRun) => number,
  unit = 'ms',
): BenchmarkRow {
  const ratio = median(mine.map((run, round) => of(run) / of(base[round] ?? run)))
  const figure = `${median(mine.map(of)).toFixed(1)} ${unit} against ${median(base.map(of)).toFixed(1)} ${unit}`
  return { label: what, figures: figure, ratio, maxRatio: limit }
}

const medianGap = ({ gaps }: ProgramRun): number => median(gaps)
const medianGapBetween = ({ gaps }: ProgramRun, from: number, to: number): number => median(gaps.slice(from, to))

try {
  const text = await compare('text')
  const twenty = await compare('twenty')
  const long = await compare('long', 5)
  const stream = await compare('stream', 5)
  await runProgram(dragoman, 'text', recordingServer.url)
  const body = recordingServer.requests[0]?.bytes.length ?? Number.NaN
  const late = long.mine.map((run) => medianGapBetween(run, 180, 200) / medianGapBetween(run, 10, 30))
  reportTable(
    'agent',
    `The command (\`dragoman -p\`, with its durable log) compared with a script of 60 lines that uses only \`fetch\` and has the same session with the same server; medians of ${ROUNDS} alternating rounds. Node ${process.version}.`,
    [
      createRow('process start to first request', 1.2, text, ({ firstRequestMs }) => firstRequestMs),
      createRow('whole run, one text turn, from start to exit', 0.8, text, ({ totalMs }) => totalMs),
      createRow('from a response to the next request, 20 turns with a tool', 2, twenty, medianGap),
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
  await server.close()
  await recordingServer.close()
  rmSync(folder, { recursive: true, force: true })
}
