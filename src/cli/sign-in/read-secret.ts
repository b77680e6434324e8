import { readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { UserError, EXIT_CODE } from '../user-error.ts'

/** Reads a secret: without echo from a terminal, or all of standard input. */
export async function readSecret(question: string): Promise<string> {
  if (isatty(0)) return readHiddenInput(question)
  try {
    return readFileSync(0, 'utf8').trim()
  } catch {
    throw new UserError('standard input cannot be read')
  }
}

function readHiddenInput(question: string): Promise<string> {
  const { stdin, stderr } = process
  return new Promise((resolve, reject) => {
    let typed = ''
    const end = (done: () => void): void => {
      stdin.off('data', take)
      stdin.setRawMode(false)
      stdin.pause()
      stderr.write('\n')
      done()
    }
    const take = (bytes: Buffer): void => {
      // Terminals send arrow keys, and mark pasted text, with escape sequences.
      for (const key of bytes.toString('utf8').replace(ESCAPE_SEQUENCES, '')) {
        if (key === '\r' || key === '\n') return end(() => resolve(typed.trim()))
        if (key === '\u0003' || key === '\u0004')
          return end(() => reject(new UserError('interrupted', EXIT_CODE.interrupted)))
        if (key === '\u0015') typed = ''
        else if (key === '\u007f' || key === '\b') typed = typed.slice(0, -1)
        else if (key >= ' ') typed += key
      }
    }
    // Echo is off before the question is shown, because the user may type at once.
    stdin.setRawMode(true)
    stdin.on('data', take)
    stdin.resume()
    stderr.write(question)
  })
}

const ESCAPE_SEQUENCES = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b./g
