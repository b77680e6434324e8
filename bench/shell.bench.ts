import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLoopScript } from '../src/rehearsal/builtin-scripts/loop.ts'
import { reportTable, type BenchmarkRow } from './support/report.ts'
import { createRow, dragoman, floor, medianGap, startProgramRunner } from './support/run-program.ts'

const ROUNDS = Number(process.env['DRAGOMAN_ROUNDS'] ?? 7)
const TURNS = 20
/** A response has a few pieces: the model works for about as long as the fastest ones do. */
const PACE_MS = 15
const REPOSITORY_FILES = 500
const callCommand = (command: string) => ({ name: 'run_shell_command', args: { command } })

const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'))
const workspaces = {
  'a folder of 20 files': createWorkspace('plain', 20),
  'a git repository of 500 files': createRepository(),
}
const scripts = {
  look: createLoopScript(TURNS, callCommand('echo turn {n}; head -n 3 notes-{n}.txt')),
  change: createLoopScript(TURNS, callCommand('echo turn {n} >> notes-{n}.txt')),
}
const runner = await startProgramRunner(scripts, folder, PACE_MS)
/** The whole response is there at once: nothing can be prepared meanwhile. */
const instantRunner = await startProgramRunner(scripts, folder, 0)

function createWorkspace(name: string, files: number): string {
  const path = join(folder, name)
  mkdirSync(path)
  for (let file = 1; file <= files; file++)
    writeFileSync(join(path, `notes-${file}.txt`), 'A line of notes.\n'.repeat(40))
  return path
}

function createRepository(): string {
  const path = createWorkspace('repository', REPOSITORY_FILES)
  const settings = ['-c', 'user.name=x', '-c', 'user.email=x@localhost', '-c', 'commit.gpgsign=false']
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    [...settings, 'commit', '-qm', 'notes'],
  ])
    execFileSync('git', args, { cwd: path, env })
  return path
}

try {
  const hasBubblewrap = spawnSync('bwrap', ['--ro-bind', '/', '/', 'true']).status === 0
  if (!hasBubblewrap) process.stderr.write('bubblewrap does not work here: the rows of the sandbox are left out\n')
  const rows: BenchmarkRow[] = []
  for (const isSandboxed of hasBubblewrap ? [false, true] : [false])
    for (const [where, cwd] of Object.entries(workspaces))
      for (const [script, what, limit] of [
        ['look', 'reads', isSandboxed ? 1.4 : 1.5],
        // The file is kept for undo, on the disk.
        ['change', 'changes a file', 2.5],
      ] as const) {
        const programs = [floor(isSandboxed), dragoman({ options: ['--sandbox', isSandboxed ? 'on' : 'off'] })] as const
        const runs = await runner.compare(programs, script, cwd, ROUNDS)
        const label = `${isSandboxed ? 'in the sandbox' : 'without a sandbox'}, a command that ${what}, in ${where}`
        rows.push(createRow(label, limit, runs, medianGap))
      }
  for (const isSandboxed of hasBubblewrap ? [false, true] : [false]) {
    const programs = [floor(isSandboxed), dragoman({ options: ['--sandbox', isSandboxed ? 'on' : 'off'] })] as const
    const runs = await instantRunner.compare(programs, 'look', workspaces['a folder of 20 files'], ROUNDS)
    const where = isSandboxed ? 'in the sandbox' : 'without a sandbox'
    rows.push(
      createRow(
        `${where}, a command that reads, with a model that takes no time`,
        isSandboxed ? 2.5 : 1.5,
        runs,
        medianGap,
      ),
    )
  }
  reportTable(
    'shell',
    `From a response with a shell command to the next request, ${TURNS} turns, compared with a minimal script that starts bash, or bubblewrap with bash, and keeps nothing for undo; the model takes ${PACE_MS} ms for each piece of a response; medians of ${ROUNDS} alternating rounds. Node ${process.version}.`,
    rows,
  )
} finally {
  await runner.close()
  await instantRunner.close()
  rmSync(folder, { recursive: true, force: true })
}
