import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findBashSyntaxError } from '../src/host/process/bash-syntax.ts'
import { createDiskView } from '../src/host/files/disk-view.ts'
import { approvalPolicy } from '../src/policy/approval-policy.ts'
import { ground, type Step } from '../test/policy/ground.ts'
import { hasShared, shared } from '../test/support/paths.ts'
import { type Folded, unfolded } from '../test/support/security-cases.ts'
import { median } from './support/measure.ts'
import { reportTable, type BenchmarkRow } from './support/report.ts'

const ROUNDS = 7
/** Many commands can only be judged with bash's own opinion, so a decision is measured in the time that bash takes to start. */
const MAX_RATIO = 3

/** Commands to judge: those of the reference material, or a few of our own where it is absent. */
const { commands, fixture } = hasShared ? readReferenceCommands() : { commands: createSampleCommands(), fixture: [] }

using workspace = ground(fixture)
let bashChecks = 0
const rejected = (text: string): Promise<string | undefined> => {
  bashChecks++
  return findBashSyntaxError(text)
}
const options = {
  mode: 'default',
  folders: [workspace.ws],
  home: workspace.home,
  disk: createDiskView(),
  rejected,
} as const
const policy = approvalPolicy(options)
for (const command of commands) await decide(command)
const share = `bash was asked about ${bashChecks} of ${commands.length}`

/** What bash takes to start, by round, because the speed of a machine changes. */
const floors: number[] = []
/** By the clock and by the processor, one decision after the other, without a pause. */
const clock = commands.map((): number[] => [])
const cost = commands.map((): number[] => [])
for (let round = 0; round < ROUNDS; round++) {
  const starts: number[] = []
  for (let start = 0; start < 20; start++) starts.push(await measureMs(() => findBashSyntaxError('ls')))
  floors.push(median(starts))
  for (const [index, command] of commands.entries()) {
    const used = process.cpuUsage()
    clock[index]?.push(await measureMs(() => decide(command)))
    const { user, system } = process.cpuUsage(used)
    cost[index]?.push((user + system) / 1000)
  }
}

reportTable(
  'policy',
  `Decisions about ${commands.length} shell commands, most of them hostile, ${ROUNDS} times, one after the other; ${share}. Node ${process.version}.`,
  [createRow('wall time', clock), createRow('processor time', cost)],
)

/** Every single decision counts; beside it what is left if a command's time is the median of its rounds. */
function createRow(what: string, times: readonly (readonly number[])[]): BenchmarkRow {
  const all = times.flat()
  return {
    label: `${what} of a decision (p99) against the start of bash`,
    figures: `${percentile99(all).toFixed(2)} ms against ${median(floors).toFixed(2)} ms (median: ${median(all).toFixed(2)} ms; p99 of the commands’ medians: ${percentile99(times.map(median)).toFixed(2)} ms)`,
    ratio: percentile99(times.flatMap((rounds) => rounds.map((time, round) => time / (floors[round] ?? Number.NaN)))),
    maxRatio: MAX_RATIO,
  }
}

function percentile99(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
}

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now()
  await work()
  return performance.now() - before
}

async function decide(command: string): Promise<void> {
  const effects = [{ kind: 'exec', command: workspace.fill(command), folder: workspace.ws }] as const
  await policy.decide({ tool: 'run_shell_command', input: {}, effects })
}

function readReferenceCommands(): { commands: readonly string[]; fixture: readonly Step[] } {
  const file = JSON.parse(readFileSync(join(shared, 'security/shell-policy.json'), 'utf8')) as {
    readonly fixture: readonly Step[]
    readonly cases: readonly { readonly command: Folded }[]
  }
  return { commands: file.cases.map(({ command }) => unfolded(command)), fixture: file.fixture }
}

function createSampleCommands(): readonly string[] {
  return [
    'ls -la | head',
    'git status && git diff --stat',
    'echo "$(cat a.txt)" > b.txt',
    'find . -name x -exec rm {} +',
    'ls; '.repeat(60),
  ]
}
