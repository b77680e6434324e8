import type { ReadStream, WriteStream } from 'node:tty'
import { notifyOutputLost } from '../../stop-signals.ts'
import { type KeyEvent, createKeyParser } from './key-parser.ts'

/** A terminal that sends keys, and how to give it back as it was. */
export interface TerminalSession {
  readonly columns: number
  readonly rows: number
  write(text: string): void
  /** Lets another program have the terminal, and takes it back. */
  suspendFor<T>(use: () => Promise<T>): Promise<T>
  close(): void
}

// Bracketed paste, and keys that can be told apart (Shift-Enter) where the terminal knows how.
const ENTER_SEQUENCE = '\u001B[?2004h\u001B[>1u'
const LEAVE_SEQUENCE = '\u001B[<u\u001B[?2004l\u001B[?25h\u001B[0m'

/** A sequence whose rest does not come within this time was a lone Escape. */
const ESCAPE_TIMEOUT_MS = 40

/** Does the terminal take UTF-8? The first of these variables that is set decides; where none is, nearly all do. */
export function supportsUtf8(env: NodeJS.ProcessEnv): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((one) => one !== undefined && one !== '')
  return locale === undefined || /utf-?8/i.test(locale)
}

/** Takes the terminal: keys come one by one and unechoed, until it is closed, by whatever way the program ends. */
export function openTerminal(
  input: ReadStream,
  output: WriteStream,
  handlers: { readonly key: (key: KeyEvent) => void; readonly resize: (columns: number, rows: number) => void },
): TerminalSession {
  const reader = createKeyParser()
  let escapeTimer: NodeJS.Timeout | undefined
  let isOpen = false

  function deliver(keys: readonly KeyEvent[]): void {
    for (const key of keys) handlers.key(key)
    clearTimeout(escapeTimer)
    if (reader.isPending) escapeTimer = setTimeout(() => deliver(reader.flush()), ESCAPE_TIMEOUT_MS)
  }
  const onData = (text: string) => deliver(reader.parse(text))
  // The terminal was closed.
  const onLost = () => void notifyOutputLost()
  input.on('error', onLost).on('end', onLost)
  const onResize = () => handlers.resize(output.columns, output.rows)

  function acquire(): void {
    isOpen = true
    input.setRawMode(true)
    input.setEncoding('utf8')
    input.on('data', onData)
    input.resume()
    output.on('resize', onResize)
    output.write(ENTER_SEQUENCE)
  }

  function release(): void {
    if (!isOpen) return
    isOpen = false
    clearTimeout(escapeTimer)
    output.write(LEAVE_SEQUENCE)
    input.off('data', onData)
    output.off('resize', onResize)
    try {
      input.setRawMode(false)
    } catch {
      // It is gone; there is nothing to give back.
    }
    input.pause()
  }

  acquire()
  // Whatever ends the program, the terminal is given back: also an error that nobody caught.
  process.once('exit', release)
  return {
    get columns() {
      return output.columns
    },
    get rows() {
      return output.rows
    },
    write: (text) => void output.write(text),
    async suspendFor(use) {
      release()
      try {
        return await use()
      } finally {
        acquire()
      }
    },
    close() {
      release()
      process.off('exit', release)
    },
  }
}
