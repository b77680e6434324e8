import { type ChildProcess, spawn } from 'node:child_process'
import { createRedactor, findEnvironmentSecrets } from '../../model/security/redactor.ts'
import { escapeForTerminal } from '../output/escape.ts'
import type { LiveConversation, UserCommandBlock, UserCommandEnd } from './conversation-state.ts'
import type { Ui } from './ui.ts'
import type { AppParts } from './app-parts.ts'
import { describeCommandEnd } from './view/user-command.ts'
import { defined } from '../../model/defined.ts'

export type UserShell = ReturnType<typeof createUserShell>

type ShellParts = Pick<AppParts, 'ui' | 'session' | 'folder'>

/**
 * `!command`: runs the commands of the user, one at a time, with the rights and the environment of the user, outside the
 * sandbox; the model is told the output.
 */
export function createUserShell() {
  let stop: (() => void) | undefined
  let running: Promise<void> = Promise.resolve()

  async function execute({ ui, session, folder }: ShellParts, input: string): Promise<void> {
    const wantsTerminal = input.startsWith('!')
    const command = (wantsTerminal ? input.slice(1) : input).trim()
    if (command === '') return
    const { output, end } =
      wantsTerminal || needsTerminal(command)
        ? await runOnTerminal(ui, command, folder)
        : await runInBackground(ui, command, folder, (stopCommand) => void (stop = stopCommand))
    const transcript = [`$ ${command}`, output, describeCommandEnd(end)].filter((one) => one !== '').join('\n')
    // It ran with the user's own variables: keys in its output are shown to the user, but not sent to the model.
    const { redact } = createRedactor(findEnvironmentSecrets(process.env))
    session.agent.session.append({ kind: 'note', text: `The user ran this command:\n${redact(transcript)}` })
  }

  return {
    get isBusy(): boolean {
      return stop !== undefined
    },
    run(app: ShellParts, input: string): Promise<void> {
      running = execute(app, input).finally(() => void (stop = undefined))
      return running
    },
    /** Terminates the command; a second call kills it. */
    stop: () => stop?.(),
    waitForEnd: () => running,
  }
}

type UserCommandResult = Readonly<{ output: string; end: UserCommandEnd }>

const OUTPUT_REFRESH_MS = 250

/** After this time a command that was asked to terminate is killed. */
const KILL_DELAY_MS = 1000

async function runInBackground(
  ui: Ui,
  command: string,
  folder: string,
  onStoppable: (stop: () => void) => void,
): Promise<UserCommandResult> {
  // In its own process group, so that everything that the command starts can be terminated with it.
  const child = spawn(command, { shell: USER_SHELL, cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const since = Date.now()
  let [output, isStopped, isOver] = ['', false, false]
  let refreshTimer: NodeJS.Timeout | undefined
  const show = (end?: UserCommandEnd): void => {
    clearTimeout(refreshTimer)
    refreshTimer = undefined
    const block: UserCommandBlock = { kind: 'user-command', command, output, since, ...defined({ end }) }
    ui.update((state) => ({ ...state, conversation: withUserCommand(state.conversation, block) }))
  }
  const onOutput = (text: string): void => {
    output = truncateOutput(output + text)
    refreshTimer ??= setTimeout(show, OUTPUT_REFRESH_MS)
  }
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onOutput)
  const signalAll = (signal: NodeJS.Signals): void => (isOver ? undefined : signalProcessGroup(child, signal))
  const killAll = (): void => signalAll('SIGKILL')
  onStoppable(() => {
    signalAll(isStopped ? 'SIGKILL' : 'SIGTERM')
    isStopped = true
    setTimeout(killAll, KILL_DELAY_MS).unref()
  })
  process.once('exit', killAll)
  ui.update((state) => ({ ...state, runningSince: since }))
  show()
  const exit = await waitForExit(child)
  isOver = true
  process.off('exit', killAll)
  ui.update(({ runningSince: _unused, ...state }) => state)
  const end: UserCommandEnd = isStopped ? { kind: 'stopped' } : exit
  show(end)
  return { output: output.trimEnd(), end }
}

const USER_SHELL = process.env['SHELL'] || true

function signalProcessGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}

/** A program with a screen of its own gets the terminal; its output is not captured. */
async function runOnTerminal(ui: Ui, command: string, folder: string): Promise<UserCommandResult> {
  ui.print([[], [{ text: `! ${escapeForTerminal(command)}`, tone: 'user' }]])
  // Control-C is meant for that program.
  const ownListeners = process.listeners('SIGINT')
  const ignoreSignal = (): void => undefined
  process.removeAllListeners('SIGINT').on('SIGINT', ignoreSignal)
  try {
    const end = await ui.suspendFor(() =>
      waitForExit(spawn(command, { shell: USER_SHELL, cwd: folder, stdio: 'inherit' })),
    )
    const description = describeCommandEnd(end)
    if (description !== '') ui.notify(description)
    return { output: '(interactive command; output not captured)', end }
  } finally {
    process.off('SIGINT', ignoreSignal)
    for (const one of ownListeners) process.on('SIGINT', one)
  }
}

function waitForExit(child: ChildProcess): Promise<UserCommandEnd> {
  return new Promise((resolve) => {
    child.on('error', ({ message }) => resolve({ kind: 'not-started', message }))
    child.on('close', (code, signal) =>
      resolve(code === null ? { kind: 'signal', signal: signal ?? 'unknown' } : { kind: 'exit', code }),
    )
  })
}

const FULL_SCREEN_PROGRAMS =
  /^(?:sudo|su|ssh|vim?|nvim|nano|emacs|less|more|man|top|htop|btop|watch|tmux|screen|passwd|tig|lazygit|fzf|mc)$/

/** Programs that are useless without a terminal; for others there is `!!command`. */
function needsTerminal(command: string): boolean {
  return FULL_SCREEN_PROGRAMS.test(command.split(/\s/, 1)[0] ?? '')
}

function withUserCommand(conversation: LiveConversation, block: UserCommandBlock): LiveConversation {
  const at = conversation.live.findIndex(({ kind }) => kind === 'user-command')
  return { ...conversation, live: at < 0 ? [...conversation.live, block] : conversation.live.with(at, block) }
}

/** Of a longer output this many characters are kept, half of them from its beginning. */
const MAX_OUTPUT_CHARS = 60_000

function truncateOutput(output: string): string {
  if (output.length <= MAX_OUTPUT_CHARS * 2) return output
  return `${output.slice(0, MAX_OUTPUT_CHARS / 2)}\n[… omitted …]\n${output.slice(-MAX_OUTPUT_CHARS / 2)}`
}
