import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { ISOLATION } from './environment.ts'
import { root } from './paths.ts'
import { clearAway } from './clear.ts'

/** Why these tests cannot run here; false if they can. */
export const noTmux = spawnSync('tmux', ['-V']).status === 0 ? false : 'tmux is not installed'

const place = mkdtempSync(join(tmpdir(), 'dragoman-tmux-'))
const socket = join(place, 'socket')
const tmux = (...args: string[]) => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' })
let count = 0

after(() => {
  spawnSync('tmux', ['-S', socket, 'kill-server'])
  clearAway(place)
})

/** A real terminal with the real command in it. */
export interface Terminal {
  /** Presses keys, by the names that tmux has for them. */
  press(...keys: string[]): void
  type(text: string): void
  /** Pastes a text, as a terminal does. */
  paste(text: string): void
  screen(): string
  /** All that the terminal holds, scrollback included. */
  history(): string
  /** The screen with its colours and weights. */
  colored(): string
  /** Waits until the screen shows this. */
  shows(what: RegExp | string): Promise<string>
  /** Waits until the screen does not show this any more. */
  hides(what: RegExp | string): Promise<string>
  resize(columns: number, rows: number): void
  /** From now on every byte that the program writes is kept in a file; gives its path. */
  recordTo(path: string): void
  /** The process that runs in it. */
  readonly pid: number
}

/** Opens a terminal and runs the command in it; then a shell stays that says how it ended. */
export function openTerminal(
  args: readonly string[],
  {
    work,
    env,
    columns = 80,
    rows = 30,
    inShell,
  }: {
    work: string
    env: Readonly<Record<string, string>>
    columns?: number
    rows?: number
    /** A shell in which the command is started, for what needs one. */
    inShell?: readonly string[]
  },
): Terminal {
  const name = `t${++count}`
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const variables = Object.entries({ ...ISOLATION, ...env }).map(([key, value]) => `${key}=${quoted(value)}`)
  const program = (inShell ?? [process.execPath, join(root, 'bin/dragoman'), ...args]).map(quoted).join(' ')
  const line = `env -i TERM=tmux-256color LANG=C.UTF-8 ${variables.join(' ')} ${program}; echo "ended with $?"; stty -a | grep -o -- '-\\?echo ' ; exec sleep 600`
  tmux('-f', '/dev/null', 'new-session', '-d', '-s', name, '-x', String(columns), '-y', String(rows), '-c', work, line)
  tmux('set-option', '-t', name, 'history-limit', '5000')
  const screen = () => tmux('capture-pane', '-p', '-t', name)
  const matches = (what: RegExp | string) => (typeof what === 'string' ? screen().includes(what) : what.test(screen()))

  async function until(isSo: () => boolean, what: string): Promise<string> {
    for (let tries = 0; tries < 1200; tries++) {
      if (isSo()) return screen()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`${what}; the screen is:\n${screen()}`)
  }

  return {
    press: (...keys) => void tmux('send-keys', '-t', name, ...keys),
    type: (text) => void tmux('send-keys', '-t', name, '-l', text),
    paste(text) {
      execFileSync('tmux', ['-S', socket, 'load-buffer', '-'], { input: text })
      tmux('paste-buffer', '-p', '-t', name)
    },
    screen,
    history: () => tmux('capture-pane', '-p', '-S', '-', '-t', name),
    colored: () => tmux('capture-pane', '-e', '-p', '-t', name),
    shows: (what) => until(() => matches(what), `the screen never showed ${what}`),
    hides: (what) => until(() => !matches(what), `the screen went on to show ${what}`),
    resize: (width, height) => void tmux('resize-window', '-t', name, '-x', String(width), '-y', String(height)),
    recordTo: (path) => void tmux('pipe-pane', '-o', '-t', name, `cat > '${path}'`),
    get pid() {
      const shell = tmux('list-panes', '-t', name, '-F', '#{pane_pid}').trim()
      return Number(execFileSync('pgrep', ['-P', shell, '-f', 'dragoman'], { encoding: 'utf8' }).trim().split('\n')[0])
    },
  }
}
