import { type ChildProcess, spawn } from 'node:child_process'
import { redactor, secretsIn } from '../../model/secret.ts'
import { visible } from '../output/visible.ts'
import type { Block } from './conversation.ts'
import type { Front } from './front.ts'
import type { Desk } from './slash/slash.ts'

/** The person's own commands: one at a time, and it can be stopped. */
export interface Bangs {
  readonly isBusy: boolean
  run(desk: Desk, typed: string): Promise<void>
  /** Ends the command; whoever asks again does not want to wait. */
  stop(): void
  /** Done when nothing runs any more. */
  ended(): Promise<void>
}

/** `!command`: run as the person's own, in their folder and their environment; the model is told what came of it. */
export function startBangs(): Bangs {
  let stop: (() => void) | undefined
  let running: Promise<void> = Promise.resolve()

  async function work({ front, agent, folder }: Desk, typed: string): Promise<void> {
    const wantsTerminal = typed.startsWith('!')
    const command = (wantsTerminal ? typed.slice(1) : typed).trim()
    if (command === '') return
    const { output, end } =
      wantsTerminal || needsTerminal(command)
        ? await onTerminal(front, command, folder)
        : await inBackground(front, command, folder, (way) => {
            stop = way
          })
    const came = [`$ ${command}`, output, end].filter((one) => one !== '').join('\n')
    // It ran with the person's own variables, so `env` shows their keys: to them, and to nobody else.
    const { clean } = redactor(secretsIn(process.env))
    agent().session.append({ kind: 'note', text: `The person ran a command of their own:\n${clean(came)}` })
  }

  return {
    get isBusy() {
      return stop !== undefined
    },
    run(desk, typed) {
      running = work(desk, typed).finally(() => {
        stop = undefined
      })
      return running
    },
    stop: () => stop?.(),
    ended: () => running,
  }
}

interface Ended {
  readonly output: string
  /** How it ended, if not well. */
  readonly end: string
}

/** What comes in is shown so often. */
const SHOW_MS = 250

async function inBackground(
  front: Front,
  command: string,
  folder: string,
  stoppable: (stop: () => void) => void,
): Promise<Ended> {
  // A group of its own can be ended as a whole, with all that the command has started.
  const child = spawn(command, { shell: SHELL, cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const since = Date.now()
  let [output, isStopped, wait] = ['', false, undefined as NodeJS.Timeout | undefined]
  const show = (end?: string): void => {
    clearTimeout(wait)
    wait = undefined
    const block: Block = { kind: 'own', command, output, since, ...(end !== undefined && { end }) }
    front.update((state) => ({ ...state, conversation: withOwn(state.conversation, block) }))
  }
  const take = (text: string): void => {
    output = shortened(output + text)
    wait ??= setTimeout(show, SHOW_MS)
  }
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', take)
  let isOver = false
  const end = (signal: NodeJS.Signals): void => (isOver ? undefined : endGroup(child, signal))
  const killAll = (): void => end('SIGKILL')
  stoppable(() => {
    end(isStopped ? 'SIGKILL' : 'SIGTERM')
    isStopped = true
    setTimeout(killAll, PATIENCE_MS).unref()
  })
  process.once('exit', killAll)
  front.update((state) => ({ ...state, running: since }))
  show()
  const how = await endOf(child)
  isOver = true
  process.off('exit', killAll)
  front.update(({ running: _unused, ...state }) => state)
  const last = isStopped ? '[stopped]' : how
  show(last)
  return { output: output.trimEnd(), end: last }
}

/** Whoever does not end when asked to is ended after so many milliseconds. */
const PATIENCE_MS = 1000

/** The shell that the person uses. */
const SHELL = process.env['SHELL'] || true

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}

/** A program with a screen of its own gets the terminal; what it shows there is not ours to keep. */
async function onTerminal(front: Front, command: string, folder: string): Promise<Ended> {
  front.print([[], [{ text: `! ${visible(command)}`, tone: 'user' }]])
  // What the keyboard sends now is meant for that program, also Control-C.
  const ours = process.listeners('SIGINT')
  const deaf = (): void => undefined
  process.removeAllListeners('SIGINT').on('SIGINT', deaf)
  try {
    const end = await front.lend(() => endOf(spawn(command, { shell: SHELL, cwd: folder, stdio: 'inherit' })))
    if (end !== '') front.say(end)
    return { output: '(It had the terminal; what it showed there was not kept.)', end }
  } finally {
    process.off('SIGINT', deaf)
    for (const one of ours) process.on('SIGINT', one)
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on('error', ({ message }) => resolve(`[it could not be started: ${message}]`))
    child.on('close', (code, signal) => resolve(code === 0 ? '' : `[exit code ${code ?? signal ?? 'unknown'}]`))
  })
}

const SCREENS =
  /^(?:sudo|su|ssh|vim?|nvim|nano|emacs|less|more|man|top|htop|btop|watch|tmux|screen|passwd|tig|lazygit|fzf|mc)$/

/** Programs that can do nothing without a terminal; for others there is `!!command`. */
function needsTerminal(command: string): boolean {
  return SCREENS.test(command.split(/\s/, 1)[0] ?? '')
}

type Conversation = Front['state']['conversation']

/** The command as it is now takes the place of what it was. */
function withOwn(conversation: Conversation, block: Block): Conversation {
  const at = conversation.live.findIndex(({ kind }) => kind === 'own')
  return { ...conversation, live: at < 0 ? [...conversation.live, block] : conversation.live.with(at, block) }
}

/** So many characters of an output are kept, half of them from its beginning. */
const MOST = 60_000

function shortened(output: string): string {
  if (output.length <= MOST * 2) return output
  return `${output.slice(0, MOST / 2)}\n[… left out …]\n${output.slice(-MOST / 2)}`
}
