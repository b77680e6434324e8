import type { ReadStream, WriteStream } from 'node:tty'
import { loseOutput } from '../../stopping.ts'
import { type Key, keyReader } from './keys.ts'

/** A terminal that sends keys, and how to give it back as it was. */
export interface OpenTerminal {
  readonly columns: number
  readonly rows: number
  write(text: string): void
  /** Lets another program have the terminal, and takes it back. */
  lend<T>(use: () => Promise<T>): Promise<T>
  close(): void
}

// Bracketed paste, and keys that can be told apart (Shift-Enter) where the terminal knows how.
const ENTER = '\u001B[?2004h\u001B[>1u'
const LEAVE = '\u001B[<u\u001B[?2004l\u001B[?25h\u001B[0m'

/** A sequence whose rest does not come within this time was a lone Escape. */
const ESCAPE_MS = 40

/** Does the terminal take UTF-8? The first of these variables that is set decides; where none is, nearly all do. */
export function hasUtf8(env: NodeJS.ProcessEnv): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((one) => one !== undefined && one !== '')
  return locale === undefined || /utf-?8/i.test(locale)
}

/** Takes the terminal: keys come one by one and unechoed, until it is closed, by whatever way the program ends. */
export function openTerminal(
  input: ReadStream,
  output: WriteStream,
  on: { readonly key: (key: Key) => void; readonly resize: (columns: number, rows: number) => void },
): OpenTerminal {
  const reader = keyReader()
  let wait: NodeJS.Timeout | undefined
  let isOpen = false

  function deliver(keys: readonly Key[]): void {
    for (const key of keys) on.key(key)
    clearTimeout(wait)
    if (reader.waits) wait = setTimeout(() => deliver(reader.flush()), ESCAPE_MS)
  }
  const onData = (text: string) => deliver(reader.read(text))
  // The terminal was closed.
  const onLost = () => void loseOutput()
  input.on('error', onLost).on('end', onLost)
  const onResize = () => on.resize(output.columns, output.rows)

  function take(): void {
    isOpen = true
    input.setRawMode(true)
    input.setEncoding('utf8')
    input.on('data', onData)
    input.resume()
    output.on('resize', onResize)
    output.write(ENTER)
  }

  function give(): void {
    if (!isOpen) return
    isOpen = false
    clearTimeout(wait)
    output.write(LEAVE)
    input.off('data', onData)
    output.off('resize', onResize)
    try {
      input.setRawMode(false)
    } catch {
      // It is gone; there is nothing to give back.
    }
    input.pause()
  }

  take()
  // Whatever ends the program, the terminal is given back: also an error that nobody caught.
  process.once('exit', give)
  return {
    get columns() {
      return output.columns
    },
    get rows() {
      return output.rows
    },
    write: (text) => void output.write(text),
    async lend(use) {
      give()
      try {
        return await use()
      } finally {
        take()
      }
    },
    close() {
      give()
      process.off('exit', give)
    },
  }
}
