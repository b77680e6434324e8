import { spawn } from 'node:child_process'
import { escapeForTerminal } from '../../output/escape.ts'
import { styledLine } from '../term/styled-line.ts'
import type { SlashCommandContext } from './slash-command.ts'

/** Runs one of our own commands and shows what it prints: what `dragoman x` says, `/x` says too. */
export async function runCliSubcommand(
  { ui, folder }: SlashCommandContext,
  args: readonly string[],
  onTerminal = false,
): Promise<void> {
  // The launcher, by which this process was started.
  const program = process.argv[1] ?? 'dragoman'
  if (onTerminal)
    return ui.suspendFor(async () => {
      await waitForClose(spawn(process.execPath, [program, ...args], { cwd: folder, stdio: 'inherit' }))
    })
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await waitForClose(child)
  ui.print([
    [],
    ...escapeForTerminal(text.trimEnd())
      .split('\n')
      .map((row) => styledLine(row)),
  ])
}

function waitForClose(child: ReturnType<typeof spawn>): Promise<void> {
  return new Promise((resolve) => {
    child.on('close', () => resolve())
    child.on('error', () => resolve())
  })
}
