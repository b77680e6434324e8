import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { stage } from '../support/command.ts'
import { ISOLATION } from '../support/environment.ts'
import { root } from '../support/paths.ts'
import { until } from './support.ts'

/** Starts `dragoman serve --json`, and returns its first line and how to end it. */
export async function startCommand(here: Awaited<ReturnType<typeof stage>>, args: readonly string[] = []) {
  const child = spawn(process.execPath, [join(root, 'bin/dragoman'), 'serve', '--json', ...args], {
    cwd: here.work,
    env: { ...ISOLATION, ...here.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // A test that fails must not wait for it.
  child.unref()
  for (const pipe of [child.stdout, child.stderr] as unknown as Socket[]) pipe.unref()
  process.once('exit', () => child.kill('SIGKILL'))
  let [out, err] = ['', '']
  child.stdout.on('data', (text: Buffer) => (out += text.toString()))
  child.stderr.on('data', (text: Buffer) => (err += text.toString()))
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  await until(`the server starts: ${err}`, () => out.includes('\n') || child.exitCode !== null)
  const [first = ''] = out.split('\n')
  return {
    first,
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.ref()
      child.kill(signal)
      return exited
    },
  }
}
