import { type ChildProcess, spawn } from 'node:child_process'
import { createRedactor, findEnvironmentSecrets } from '../../model/security/redactor.ts'
import { escapeForTerminal } from '../output/escape.ts'
import type { ConversationBlock } from './conversation.ts'
import type { Ui } from './ui.ts'
import type { SlashCommandContext } from './slash/slash-command.ts'
import { defined } from '../../model/defined.ts'

/** The person's own commands: one at a time, and it can be stopped. */
export interface UserShell {
  readonly isBusy: boolean
  run(context: SlashCommandContext, input: string): Promise<void>
  /** Ends the command; whoever asks again does not want to wait. */
  stop(): void
  /** Done when nothing runs any more. */
  waitForEnd(): Promise<void>
}

/** `!command`: run as the person's own, in their folder and their environment; the model is told what came of it. */
export function createUserShell(): UserShell {
  let stop: (() => void) | undefined
  let running: Promise<void> = Promise.resolve()

  async function work({ ui, agent, folder }: SlashCommandContext, input: string): Promise<void> {
    const wantsTerminal = input.startsWith('!')
    const command = (wantsTerminal ? input.slice(1) : input).trim()
    if (command === '') return
    const { output, end } =
      wantsTerminal || needsTerminal(command)
        ? await runOnTerminal(ui, command, folder)
        : await runInBackground(ui, command, folder, (stopCommand) => {
            stop = stopCommand
          })
    const transcript = [`$ ${command}`, output, end].filter((one) => one !== '').join('\n')
    // It ran with the person's own variables, so `env` shows their keys: to them, and to nobody else.
    const { redact } = createRedactor(findEnvironmentSecrets(process.env))
    agent().session.append({ kind: 'note', text: `The person ran a command of their own:\n${redact(transcript)}` })
  }

  return {
    get isBusy() {
      return stop !== undefined
    },
    run(context, input) {
      running = work(context, input).finally(() => {
        stop = undefined
      })
      return running
    },
    stop: () => stop?.(),
    waitForEnd: () => running,
  }
}

interface UserCommandResult {
  readonly output: string
  /** How it ended, if not well. */
  readonly end: string
}

/** What comes in is shown so often. */
const OUTPUT_REFRESH_MS = 250

async function runInBackground(
  ui: Ui,
  command: string,
  folder: string,
  onStoppable: (stop: () => void) => void,
): Promise<UserCommandResult> {
  // A group of its own can be ended as a whole, with all that the command has started.
  const child = spawn(command, { shell: USER_SHELL, cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const since = Date.now()
  let [output, isStopped, wait] = ['', false, undefined as NodeJS.Timeout | undefined]
  const show = (end?: string): void => {
    clearTimeout(wait)
    wait = undefined
    const block: ConversationBlock = { kind: 'own', command, output, since, ...defined({ end }) }
    ui.update((state) => ({ ...state, conversation: withUserCommand(state.conversation, block) }))
  }
  const take = (text: string): void => {
    output = truncateOutput(output + text)
    wait ??= setTimeout(show, OUTPUT_REFRESH_MS)
  }
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', take)
  let isOver = false
  const end = (signal: NodeJS.Signals): void => (isOver ? undefined : signalProcessGroup(child, signal))
  const killAll = (): void => end('SIGKILL')
  onStoppable(() => {
    end(isStopped ? 'SIGKILL' : 'SIGTERM')
    isStopped = true
    setTimeout(killAll, KILL_DELAY_MS).unref()
  })
  process.once('exit', killAll)
  ui.update((state) => ({ ...state, runningSince: since }))
  show()
  const exitText = await waitForExit(child)
  isOver = true
  process.off('exit', killAll)
  ui.update(({ runningSince: _unused, ...state }) => state)
  const last = isStopped ? '[stopped]' : exitText
  show(last)
  return { output: output.trimEnd(), end: last }
}

/** Whoever does not end when asked to is ended after so many milliseconds. */
const KILL_DELAY_MS = 1000

/** The shell that the person uses. */
const USER_SHELL = process.env['SHELL'] || true

function signalProcessGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}

/** A program with a screen of its own gets the terminal; what it shows there is not ours to keep. */
async function runOnTerminal(ui: Ui, command: string, folder: string): Promise<UserCommandResult> {
  ui.print([[], [{ text: `! ${escapeForTerminal(command)}`, tone: 'user' }]])
  // What the keyboard sends now is meant for that program, also Control-C.
  const ownListeners = process.listeners('SIGINT')
  const ignoreSignal = (): void => undefined
  process.removeAllListeners('SIGINT').on('SIGINT', ignoreSignal)
  try {
    const end = await ui.suspendFor(() =>
      waitForExit(spawn(command, { shell: USER_SHELL, cwd: folder, stdio: 'inherit' })),
    )
    if (end !== '') ui.notify(end)
    return { output: '(It had the terminal; what it showed there was not kept.)', end }
  } finally {
    process.off('SIGINT', ignoreSignal)
    for (const one of ownListeners) process.on('SIGINT', one)
  }
}

function waitForExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on('error', ({ message }) => resolve(`[it could not be started: ${message}]`))
    child.on('close', (code, signal) => resolve(code === 0 ? '' : `[exit code ${code ?? signal ?? 'unknown'}]`))
  })
}

const FULL_SCREEN_PROGRAMS =
  /^(?:sudo|su|ssh|vim?|nvim|nano|emacs|less|more|man|top|htop|btop|watch|tmux|screen|passwd|tig|lazygit|fzf|mc)$/

/** Programs that can do nothing without a terminal; for others there is `!!command`. */
function needsTerminal(command: string): boolean {
  return FULL_SCREEN_PROGRAMS.test(command.split(/\s/, 1)[0] ?? '')
}

type UiConversation = Ui['state']['conversation']

/** The command as it is now takes the place of what it was. */
function withUserCommand(conversation: UiConversation, block: ConversationBlock): UiConversation {
  const at = conversation.live.findIndex(({ kind }) => kind === 'own')
  return { ...conversation, live: at < 0 ? [...conversation.live, block] : conversation.live.with(at, block) }
}

/** So many characters of an output are kept, half of them from its beginning. */
const MAX_OUTPUT_CHARS = 60_000

function truncateOutput(output: string): string {
  if (output.length <= MAX_OUTPUT_CHARS * 2) return output
  return `${output.slice(0, MAX_OUTPUT_CHARS / 2)}\n[… left out …]\n${output.slice(-MAX_OUTPUT_CHARS / 2)}`
}
