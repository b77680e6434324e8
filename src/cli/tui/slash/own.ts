import { spawn } from 'node:child_process'
import { visible } from '../../output/visible.ts'
import { line } from '../term/line.ts'
import type { Desk } from './slash.ts'

/** Runs one of our own commands and shows what it prints: what `dragoman x` says, `/x` says too. */
export async function runOwn({ front, folder }: Desk, args: readonly string[], onTerminal = false): Promise<void> {
  // The launcher, by which this process was started.
  const program = process.argv[1] ?? 'dragoman'
  if (onTerminal)
    return front.lend(async () => {
      await ended(spawn(process.execPath, [program, ...args], { cwd: folder, stdio: 'inherit' }))
    })
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  child.stdout.on('data', (piece: Buffer) => (text += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => (text += piece.toString()))
  await ended(child)
  front.print([
    [],
    ...visible(text.trimEnd())
      .split('\n')
      .map((row) => line(row)),
  ])
}

function ended(child: ReturnType<typeof spawn>): Promise<void> {
  return new Promise((resolve) => {
    child.on('close', () => resolve())
    child.on('error', () => resolve())
  })
}
