import { basename } from 'node:path'
import { escapeForTerminal } from '../output/escape.ts'

export type NotificationMethod = 'auto' | 'bell' | 'osc9' | 'osc777' | 'off'

/** Tells a user who looks elsewhere what happens: by the title of the terminal and by notifications. */
export interface TerminalSignals {
  setState(state: 'idle' | 'working' | 'waiting'): void
  /** Only if the user has not pressed a key for a while. */
  notify(message: string): void
  onKey(): void
  close(): void
}

interface SignalOptions {
  readonly folder: string
  readonly method: NotificationMethod
  readonly hasTitle: boolean
  readonly write: (text: string) => void
  readonly env: NodeJS.ProcessEnv
  readonly now: () => number
}

/** A user who has pressed a key within this time needs no notification. */
const AWAY_MS = 15_000

const SAVE_TITLE = '\u001B[22;2t'
const RESTORE_TITLE = '\u001B[23;2t'

export function createTerminalSignals({ folder, method, hasTitle, write, env, now }: SignalOptions): TerminalSignals {
  const name = clean(basename(folder) || folder)
  const chosen = method === 'auto' ? detectMethod(env) : method
  let lastKey = now()
  let shown = ''
  if (hasTitle) write(SAVE_TITLE)
  const setTitle = (title: string): void => {
    if (!hasTitle || title === shown) return
    shown = title
    write(`\u001B]2;${title}\u0007`)
  }
  setTitle(`dragoman · ${name}`)
  return {
    setState: (state) => setTitle(`${STATE_MARKS[state]}dragoman · ${name}`),
    notify(message) {
      if (chosen === 'off' || now() - lastKey < AWAY_MS) return
      write(formatNotification(chosen, clean(`dragoman, ${name}: ${message}`)))
    },
    onKey: () => void (lastKey = now()),
    close: () => hasTitle && write(RESTORE_TITLE),
  }
}

const STATE_MARKS = { idle: '', working: '● ', waiting: '? ' } as const

/** Terminals that show notifications; in others a bell marks the window. */
function detectMethod({ TERM = '', TERM_PROGRAM = '' }: NodeJS.ProcessEnv): Exclude<NotificationMethod, 'auto'> {
  if (/^(?:iTerm\.app|WezTerm|ghostty)$/.test(TERM_PROGRAM) || TERM.includes('kitty') || TERM.includes('ghostty'))
    return 'osc9'
  return /^(?:rxvt|foot)/.test(TERM) ? 'osc777' : 'bell'
}

function formatNotification(method: Exclude<NotificationMethod, 'auto' | 'off'>, text: string): string {
  if (method === 'osc9') return `\u001B]9;${text}\u0007`
  return method === 'osc777' ? `\u001B]777;notify;Dragoman;${text.replaceAll(';', ',')}\u0007` : '\u0007'
}

/** The name of a folder is text of others. */
function clean(text: string): string {
  return escapeForTerminal(text, 'file-name').slice(0, 100)
}
