import { UserError } from './user-error.ts'

/** Asks a question that one key answers. */
export async function confirm(question: string): Promise<boolean> {
  const { stdin, stderr } = process
  if (!stdin.isTTY) throw new UserError('there is no terminal to confirm on; use --yes')
  stdin.setRawMode(true)
  stderr.write(`${question} [y] yes   [n] no > `)
  try {
    for await (const keys of stdin.setEncoding('utf8')) {
      // Keys that are pressed quickly arrive together.
      const key = Array.from(String(keys).toLowerCase()).find((one) => CONFIRM_KEYS.includes(one))
      if (key === undefined) continue
      stderr.write(`${key === 'y' ? 'yes' : 'no'}\n`)
      return key === 'y'
    }
    return false
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
  }
}

/** Yes, no, and the keys that always mean no: Escape, Ctrl-C, Ctrl-D. */
const CONFIRM_KEYS = 'yn\u001B\u0003\u0004'
