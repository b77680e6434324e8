import { spawn } from 'node:child_process'
import { findShell } from './find-shell.ts'

/**
 * The first syntax error that bash finds, without running anything. The text must have passed the policy: no zero byte, and
 * not longer than an argument may be.
 */
export function findBashSyntaxError(text: string): Promise<string | undefined> {
  return new Promise((done) => {
    const child = spawn(findShell(), ['--noprofile', '--norc', '-n', '-c', '--', text], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {},
      timeout: 5000,
    })
    let stderrText = ''
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      stderrText = (stderrText + more).slice(0, 2000)
    })
    child.once('error', (error) => done(`bash could not be started (${error.message})`))
    child.once('close', (code) => {
      const [line = ''] = stderrText.split('\n')
      done(code === 0 ? undefined : line.replace(/^.*?bash: (?:-c: )?/, '') || 'it is not valid')
    })
  })
}
