import { spawn } from 'node:child_process'
import { escapeForTerminal } from '../../output/escape.ts'
import type { AppParts } from '../app-parts.ts'
import { styledLines } from '../term/styled-line.ts'

/** Runs a subcommand of dragoman: its output is shown, or it gets the terminal. */
export async function runCliSubcommand(
  { ui, folder }: AppParts,
  args: readonly string[],
  mode: 'show-output' | 'on-terminal' = 'show-output',
): Promise<void> {
  // The launcher that started this process.
  const program = process.argv[1] ?? 'dragoman'
  if (mode === 'on-terminal')
    return ui.suspendFor(() =>
      waitForClose(spawn(process.execPath, [program, ...args], { cwd: folder, stdio: 'inherit' })),
    )
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await waitForClose(child)
  ui.print([[], ...styledLines(escapeForTerminal(text.trimEnd()))])
}

function waitForClose(child: ReturnType<typeof spawn>): Promise<void> {
  return new Promise((resolve) => {
    child.on('close', () => resolve())
    child.on('error', () => resolve())
  })
}
