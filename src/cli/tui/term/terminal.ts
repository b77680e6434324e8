import type { ReadStream, WriteStream } from 'node:tty'
import { stopForLostOutput } from '../../stop-signals.ts'
import { type KeyEvent, createKeyParser } from './key-parser.ts'

/** A terminal in raw mode, until it is closed. */
export type TerminalSession = ReturnType<typeof openTerminal>

// Bracketed paste, and distinguishable keys (Shift-Enter) if the terminal supports that.
const ENTER_SEQUENCE = '\u001B[?2004h\u001B[>1u'
const LEAVE_SEQUENCE = '\u001B[<u\u001B[?2004l\u001B[?25h\u001B[0m'

/** If the rest of a sequence does not arrive in this time, it was the Escape key. */
const ESCAPE_TIMEOUT_MS = 40

/** The first of these variables that is set decides; without any, nearly all terminals support UTF-8. */
export function supportsUtf8(env: NodeJS.ProcessEnv): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((one) => one !== undefined && one !== '')
  return locale === undefined || /utf-?8/i.test(locale)
}

/** Puts the terminal into raw mode; it is restored when the session is closed or the program ends. */
export function openTerminal(
  input: ReadStream,
  output: WriteStream,
  handlers: { readonly key: (key: KeyEvent) => void; readonly resize: (columns: number, rows: number) => void },
) {
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
  const onLost = () => void stopForLostOutput()
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
      // The terminal is gone.
    }
    input.pause()
  }

  acquire()
  // Also after an uncaught error.
  process.once('exit', release)
  return {
    get columns(): number {
      return output.columns
    },
    get rows(): number {
      return output.rows
    },
    write: (text: string) => void output.write(text),
    /** Restores the terminal while another program uses it. */
    async suspendFor<T>(use: () => Promise<T>): Promise<T> {
      release()
      try {
        return await use()
      } finally {
        acquire()
      }
    },
    close(): void {
      release()
      process.off('exit', release)
    },
  }
}
