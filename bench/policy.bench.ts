import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bashRejects } from '../src/host/bash-syntax.ts'
import { lookAtDisk } from '../src/host/look.ts'
import { approvalPolicy } from '../src/policy/approval.ts'
import { ground, type Step } from '../test/policy/ground.ts'
import { hasShared, shared } from '../test/support/paths.ts'
import { type Folded, unfolded } from '../test/support/security-cases.ts'
import { median } from './support/measure.ts'
import { report } from './support/report.ts'

const ROUNDS = 7
const LIMIT = 10

/** Commands to judge: those of the reference material, or a few of our own where it is absent. */
const { commands, fixture } = hasShared ? reference() : { commands: ownCommands(), fixture: [] }

using at = ground(fixture)
const options = { mode: 'default', folders: [at.ws], home: at.home, disk: lookAtDisk(), rejected: bashRejects } as const
const policy = approvalPolicy(options)
for (const command of commands) await decide(command)

/** Processor time, so that other work on the machine does not count; and time on the clock, beside that of bash alone. */
const [cost, clock, bash] = [0, 1, 2].map(() => commands.map((): number[] => []))
for (let round = 0; round < ROUNDS; round++) {
  for (const [index, command] of commands.entries()) {
    const used = process.cpuUsage()
    clock?.[index]?.push(await timed(() => decide(command)))
    const { user, system } = process.cpuUsage(used)
    cost?.[index]?.push((user + system) / 1000)
    bash?.[index]?.push(await timed(() => bashRejects(command)))
  }
}

const [ours, waited, floor] = [cost, clock, bash].map((times = []) => times.map(median).sort((a, b) => a - b))
report(
  'policy',
  `Judging ${commands.length} shell commands, most of them hostile; each time is the median of ${ROUNDS} rounds. Node ${process.version}.`,
  [
    {
      what: 'a decision: the slowest of 100 against 10 ms',
      figure: `${at99(ours).toFixed(2)} ms of the processor (half of them: ${median(ours ?? []).toFixed(2)} ms)`,
      ratio: at99(ours) / LIMIT,
      limit: 1,
    },
    {
      what: 'a decision on the clock, against asking bash alone, which is part of it',
      figure: `${median(waited ?? []).toFixed(2)} ms against ${median(floor ?? []).toFixed(2)} ms`,
      ratio: median(waited ?? []) / median(floor ?? []),
      limit: 2,
    },
  ],
)

function at99(sorted: readonly number[] = []): number {
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now()
  await work()
  return performance.now() - before
}

async function decide(command: string): Promise<void> {
  const effects = [{ kind: 'exec', command: at.fill(command), folder: at.ws }] as const
  await policy.decide({ tool: 'run_shell_command', input: {}, effects })
}

function reference(): { commands: readonly string[]; fixture: readonly Step[] } {
  const file = JSON.parse(readFileSync(join(shared, 'security/shell-policy.json'), 'utf8')) as {
    readonly fixture: readonly Step[]
    readonly cases: readonly { readonly command: Folded }[]
  }
  return { commands: file.cases.map(({ command }) => unfolded(command)), fixture: file.fixture }
}

function ownCommands(): readonly string[] {
  return [
    'ls -la | head',
    'git status && git diff --stat',
    'echo "$(cat a.txt)" > b.txt',
    'find . -name x -exec rm {} +',
    'ls; '.repeat(60),
  ]
}
