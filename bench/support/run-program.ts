import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { RehearsalScript } from '../../src/rehearsal/script/script.ts'
import { startRehearsalServer } from '../../src/rehearsal/server.ts'
import { root } from '../../test/support/paths.ts'
import { median } from './measure.ts'
import type { BenchmarkRow } from './report.ts'

/** What one run of a program was like. */
export interface ProgramRun {
  readonly firstRequestMs: number
  readonly totalMs: number
  /** From the end of each response to the next request. */
  readonly gaps: readonly number[]
  readonly peakKb: number
}

/** The arguments of Node for a program that has the session of a script with the model server. */
export type ProgramArgs = (script: string, url: string) => readonly string[]

/** The same runs of two programs, by round. */
export interface ComparedRuns {
  readonly base: ProgramRun[]
  readonly mine: ProgramRun[]
}

/** The minimal script; `sandboxed` starts its commands in bubblewrap. */
export const floor =
  (sandboxed = false): ProgramArgs =>
  (script, url) => [join(root, 'bench/support/floor.mjs'), url, script, 'go', ...(sandboxed ? ['bwrap'] : [])]

/** The paths of the model server, by provider; each speaks another wire. */
const PROVIDER_PATHS = { 'openai-chat': '/v1', openai: '/v1', anthropic: '', gemini: '' } as const

export type BenchProvider = keyof typeof PROVIDER_PATHS
export const BENCH_PROVIDERS = Object.keys(PROVIDER_PATHS) as readonly BenchProvider[]

interface DragomanOptions {
  readonly provider?: BenchProvider
  readonly options?: readonly string[]
  /** Another copy of the package. */
  readonly folder?: string
}

export const dragoman =
  ({ provider = 'openai-chat', options = [], folder = root }: DragomanOptions = {}): ProgramArgs =>
  (script) => [join(folder, 'bin/dragoman'), '-p', 'go', '-m', `${provider}/${script}`, '--yolo', ...options]

/** Runs programs against one model server, and measures what the server sees of them. `paceMs` is between pieces of a response. */
export async function startProgramRunner(
  scripts: Readonly<Record<string, RehearsalScript>>,
  homes: string,
  paceMs = 0,
) {
  const timestamps: { asked: number[]; answered: number[] } = { asked: [], answered: [] }
  const server = await startRehearsalServer({
    scripts,
    paceMs,
    isLightweight: true,
    onTraffic: (moment) => timestamps[moment].push(performance.now()),
  })

  function run(program: ProgramArgs, script: string, cwd: string, url = server.url): Promise<ProgramRun> {
    timestamps.asked = []
    timestamps.answered = []
    const home = mkdtempSync(join(homes, 'home-'))
    const variables = Object.entries(PROVIDER_PATHS).flatMap(([provider, path]) => {
      const name = provider.toUpperCase().replace('-', '_')
      return [[`DRAGOMAN_${name}_BASE_URL`, `${url}${path}`] as const, [`${name}_API_KEY`, 'k'] as const]
    })
    const env = { PATH: process.env['PATH'], HOME: home, ...Object.fromEntries(variables) }
    const args = program(script, url)
    const started = performance.now()
    const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] })
    child.stdout.resume()
    let peak = 0
    const look = setInterval(() => {
      peak = Math.max(peak, readPeakMemory(child.pid ?? 0))
    }, 20)
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code) => {
        clearInterval(look)
        const whole = performance.now() - started
        if (code !== 0) return reject(new Error(`${args.join(' ')} ended with ${code}`))
        const { asked, answered } = timestamps
        const gaps = asked.slice(1).map((at, turn) => at - (answered[turn] ?? Number.NaN))
        resolve({ firstRequestMs: (asked[0] ?? Number.NaN) - started, totalMs: whole, gaps, peakKb: peak })
      })
    })
  }

  /** Both programs in turn, so that a busy moment of the machine hits both. */
  async function compare(
    [base, mine]: readonly [ProgramArgs, ProgramArgs],
    script: string,
    cwd: string,
    rounds: number,
  ): Promise<ComparedRuns> {
    const runs: ComparedRuns = { base: [], mine: [] }
    for (let round = 0; round <= rounds; round++) {
      const [one, other] = [await run(base, script, cwd), await run(mine, script, cwd)]
      // The first round fills the caches of the disk.
      if (round === 0) continue
      runs.base.push(one)
      runs.mine.push(other)
    }
    return runs
  }

  /** The first start of a new copy of the package, and the third. `compiled`: with the compiled code that the build made. */
  async function compareStarts(script: string, cwd: string, rounds: number, compiled: boolean): Promise<ComparedRuns> {
    const runs: ComparedRuns = { base: [], mine: [] }
    for (let round = 0; round < rounds; round++) {
      const copy = mkdtempSync(join(homes, 'copy-'))
      const filter = (path: string): boolean => !path.endsWith('.map') && (compiled || !path.endsWith('.compiled'))
      for (const part of ['bin', 'dist', 'package.json'])
        cpSync(join(root, part), join(copy, part), { recursive: true, filter })
      runs.mine.push(await run(dragoman({ folder: copy }), script, cwd))
      await run(dragoman({ folder: copy }), script, cwd)
      runs.base.push(await run(dragoman({ folder: copy }), script, cwd))
      rmSync(copy, { recursive: true })
    }
    return runs
  }

  return { run, compare, compareStarts, close: () => server.close() }
}

/** The most memory that a process had so far, in kB. */
function readPeakMemory(pid: number): number {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

export function createRow(
  label: string,
  maxRatio: number,
  { base, mine }: ComparedRuns,
  of: (run: ProgramRun) => number,
  unit = 'ms',
): BenchmarkRow {
  const ratio = median(mine.map((run, round) => of(run) / of(base[round] ?? run)))
  const figures = `${median(mine.map(of)).toFixed(1)} ${unit} against ${median(base.map(of)).toFixed(1)} ${unit}`
  return { label, figures, ratio, maxRatio }
}

export const medianGap = ({ gaps }: ProgramRun): number => median(gaps)
