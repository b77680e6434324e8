import { spawn } from 'node:child_process'
import { shell } from './shell.ts'

/**
 * What bash says against a text, without running any of it; nothing if bash takes it. The text must be one that the
 * policy has seen: no zero byte, and not longer than an argument may be.
 */
export function bashRejects(text: string): Promise<string | undefined> {
  return new Promise((done) => {
    const child = spawn(shell(), ['--noprofile', '--norc', '-n', '-c', '--', text], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {},
      timeout: 5000,
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      said = (said + more).slice(0, 2000)
    })
    child.once('error', (error) => done(`it could not be asked (${error.message})`))
    child.once('close', (code) => done(code === 0 ? undefined : problemIn(said)))
  })
}

function problemIn(said: string): string {
  const [line = ''] = said.split('\n')
  return line.replace(/^.*?bash: (?:-c: )?/, '') || 'it is not valid'
}
