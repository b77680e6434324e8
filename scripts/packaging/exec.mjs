import { spawn } from 'node:child_process'
import { join } from 'node:path'

/** Runs a program. Returns what it printed; throws what it printed if it failed. */
export async function exec(program, args, cwd, env = {}) {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let errors = ''
  child.stdout.on('data', (data) => (out += data))
  child.stderr.on('data', (data) => (errors += data))
  const timer = setTimeout(() => child.kill('SIGKILL'), 300_000)
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  clearTimeout(timer)
  if (code !== 0) throw new Error(out.trim() || errors.trim() || `${program} ended with ${code}`)
  return out
}

/** Runs a program of the installed tools. */
export const runTool = (tools, name, args, cwd, env) => exec(join(tools, 'node_modules/.bin', name), args, cwd, env)

/** Throws unless a program printed this. */
export function expectOutput(out, expected) {
  if (out.trim() !== expected) throw new Error(`It printed ${JSON.stringify(out.trim().slice(0, 300))}.`)
}
