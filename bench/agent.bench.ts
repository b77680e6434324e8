import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loop } from '../src/rehearsal/scripts/loop.ts'
import { startRehearsal } from '../src/rehearsal/server.ts'
import { root } from '../test/support/paths.ts'
import { median } from './support/measure.ts'
import { report, type Row } from './support/report.ts'

const ROUNDS = Number(process.env['DRAGOMAN_ROUNDS'] ?? 7)
const CHUNKS = 20_000

const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'))
// A different file each time: who reads the same one over and over is stopped.
for (let turn = 0; turn <= 201; turn++)
  writeFileSync(join(folder, `notes-${turn}.txt`), 'A line of notes.\n'.repeat(40))
const READ = { name: 'read_file', args: { absolute_path: join(folder, 'notes-{n}.txt') } }
const scripts = {
  text: { steps: [{ say: 'Hello there.' }] },
  twenty: loop(20, READ),
  long: loop(200, READ),
  stream: { steps: [{ say: 'word '.repeat(CHUNKS), pieces: CHUNKS }] },
}
const moments: { asked: number[]; answered: number[] } = { asked: [], answered: [] }
const server = await startRehearsal({ scripts, pace: 0, light: true, watch: (moment) => moments[moment].push(now()) })
// The body is looked at where it is recorded; the measured server records nothing.
const witness = await startRehearsal({ scripts, pace: 0 })

/** What one run of a program was like. */
interface Run {
  readonly first: number
  readonly whole: number
  readonly gaps: readonly number[]
  readonly peak: number
}

type Program = (script: string, url?: string) => readonly string[]

const floor: Program = (script) => [join(root, 'bench/support/floor.mjs'), server.url, script, 'go']
const ours: Program = (script) => [join(root, 'bin/dragoman'), '-p', 'go', '-m', `openai-chat/${script}`, '--yolo']

function now(): number {
  return performance.now()
}

function play(program: Program, script: string, url = server.url): Promise<Run> {
  moments.asked = []
  moments.answered = []
  const home = mkdtempSync(join(folder, 'home-'))
  const env = { PATH: process.env['PATH'], HOME: home, OPENAI_API_KEY: 'k', DRAGOMAN_OPENAI_CHAT_BASE_URL: `${url}/v1` }
  const started = now()
  const child = spawn(process.execPath, program(script), { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
  child.stdout.resume()
  let peak = 0
  const look = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid ?? 0))
  }, 20)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      clearInterval(look)
      const whole = now() - started
      if (code !== 0) return reject(new Error(`${program(script).join(' ')} ended with ${code}`))
      const { asked, answered } = moments
      const gaps = asked.slice(1).map((at, turn) => at - (answered[turn] ?? Number.NaN))
      resolve({ first: (asked[0] ?? Number.NaN) - started, whole, gaps, peak })
    })
  })
}

/** The most memory that a process had so far, in kB. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Both programs in turn, so that a busy moment of the machine hits both. */
async function compare(script: string, rounds = ROUNDS): Promise<{ base: Run[]; mine: Run[] }> {
  const runs: { base: Run[]; mine: Run[] } = { base: [], mine: [] }
  for (let round = 0; round <= rounds; round++) {
    const base = await play(floor, script)
    const mine = await play(ours, script)
    // The first round fills the caches of the disk.
    if (round === 0) continue
    runs.base.push(base)
    runs.mine.push(mine)
  }
  return runs
}

function row(
  what: string,
  limit: number,
  { base, mine }: { base: Run[]; mine: Run[] },
  of: (run: Run) => number,
  unit = 'ms',
): Row {
  const ratio = median(mine.map((run, round) => of(run) / of(base[round] ?? run)))
  const figure = `${median(mine.map(of)).toFixed(1)} ${unit} against ${median(base.map(of)).toFixed(1)} ${unit}`
  return { what, figure, ratio, limit }
}

const gap = ({ gaps }: Run): number => median(gaps)
const part = ({ gaps }: Run, from: number, to: number): number => median(gaps.slice(from, to))

try {
  const text = await compare('text')
  const twenty = await compare('twenty')
  const long = await compare('long', 5)
  const stream = await compare('stream', 5)
  await play(ours, 'text', witness.url)
  const body = witness.requests[0]?.bytes.length ?? Number.NaN
  const late = long.mine.map((run) => part(run, 180, 200) / part(run, 10, 30))
  report(
    'agent',
    `The command (\`dragoman -p\`, with its durable log) compared with a script of 60 lines that uses only \`fetch\` and has the same session with the same server; medians of ${ROUNDS} alternating rounds. Node ${process.version}.`,
    [
      row('process start to first request', 1.2, text, ({ first }) => first),
      row('whole run, one text turn, from start to exit', 0.8, text, ({ whole }) => whole),
      row('from a response to the next request, 20 turns with a tool', 2, twenty, gap),
      {
        what: 'the same at turn 200 against turn 20',
        figure: `${median(long.mine.map((run) => part(run, 180, 200))).toFixed(2)} ms against ${median(long.mine.map((run) => part(run, 10, 30))).toFixed(2)} ms`,
        ratio: median(late),
        limit: 1.2,
      },
      row(`a stream of ${CHUNKS} chunks, whole run`, 1.3, stream, ({ whole }) => whole),
      row('peak memory, 200 turns', 1.5, long, ({ peak }) => peak / 1000, 'MB'),
      {
        what: 'body of the first request, with all tools',
        figure: `${body} bytes against 16384`,
        ratio: body / 16_384,
        limit: 1,
      },
    ],
  )
} finally {
  await server.close()
  await witness.close()
  rmSync(folder, { recursive: true, force: true })
}
