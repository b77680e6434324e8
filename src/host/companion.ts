import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { endWithUs, expectUnboxed, letGo, newMark } from './end-with-us.ts'
import { cleanEnvironment } from './environment.ts'
import { endAtOnce, type Group, stop } from './group.ts'
import { shell } from './shell.ts'
import { endedFirst, newsOf } from './start.ts'
import type { Enclosed, Sandbox } from './sandbox/sandbox.ts'

/** A program that is to run beside us, and to be talked with over its standard input and output. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
  /** Where it starts. */
  readonly folder: string
  /** Variables beside those that every program gets. */
  readonly env?: Readonly<Record<string, string>>
  /** It runs outside of the sandbox. */
  readonly trusted?: boolean
  /** May it reach the network from inside the sandbox? */
  readonly network?: boolean
}

/** Who listens to a companion. */
export interface Listener {
  /** What it prints, as it comes. */
  readonly heard: (bytes: Uint8Array) => void
  /** It has ended, of itself or because it was closed: how, in words. */
  readonly ended: (how: string) => void
}

/** A program that runs beside us. */
export interface Companion {
  readonly pid: number
  /** It runs in the sandbox. */
  readonly boxed: boolean
  /** Done when the system has taken it. */
  send(text: string): Promise<void>
  /** The last that it printed where errors go. */
  lastWords(): string
  /** Asks it to end by ending its input; what does not go is stopped, with all that it started. */
  close(): Promise<void>
}

/** Starts programs to talk with. */
export interface Companions {
  open(program: Program, listener: Listener): Promise<Companion>
  /** What programs made of protected paths, so that it was set aside, since it was last asked. */
  news(): string[]
  /** Ends all of them at once. */
  close(): void
}

/** What companions need of the host. */
export interface CompanionOptions {
  /** Names of variables that programs may inherit, beside the usual ones. */
  readonly variables?: readonly string[]
  readonly sandbox?: Sandbox
  /** Called when a program runs without the sandbox that it could have had. */
  readonly onUnboxed?: (why: string) => void
}

/** Programs beside us, each in a group and session of its own, with a clean environment, and shut in unless trusted. */
export function localCompanions(options: CompanionOptions): Companions {
  const running = new Map<Group, () => string[]>()
  const last: string[] = []

  return {
    async open(program, listener) {
      const folder = realpathSync(program.folder)
      if (!isThere(program.command, folder)) throw new Error(`There is no program ${program.command}.`)
      const { child, box, mark } = await startSurely(options, program, folder)
      const group: Group = { id: child.pid ?? 0, mark, ...(box?.boxed && { boxed: true }) }
      running.set(group, () => newsOf(box?.found(), program.command))
      endWithUs(group)
      return accompany(child, group, box, listener, () => {
        running.delete(group)
        letGo(group)
        last.push(...newsOf(box?.check(), program.command))
      })
    },
    news: () => [...last.splice(0), ...[...running.values()].flatMap((one) => one())],
    close() {
      for (const group of running.keys()) endAtOnce(group)
    },
  }
}

interface StartedProgram {
  readonly child: ChildProcess
  readonly box: Enclosed | undefined
  readonly mark: string
}

/** What was to be mounted or covered may go away in the moment in which a box is made; then the program has not begun. */
async function startSurely(options: CompanionOptions, program: Program, folder: string): Promise<StartedProgram> {
  for (let tries = 1; ; tries++) {
    const started = await start(options, program, folder)
    if (!started.box?.boxed || (await hasBegun(started.child))) return started
    started.box.release()
    const why = String(started.child.stderr?.read() ?? '').trim()
    if (tries === TRIES) throw new Error(`The sandbox for ${program.command} could not be started: ${why}`)
  }
}

const TRIES = 5

async function start(options: CompanionOptions, program: Program, folder: string): Promise<StartedProgram> {
  const box = program.trusted ? undefined : await boxFor(options, program, folder)
  const { mark, env: marked } = newMark('companion')
  const env = cleanEnvironment(process.env, options.variables, { ...program.env, ...marked })
  const before = box ? [box.program, ...box.args, ...(box.boxed ? [shell(), ...BEGIN] : [])] : []
  const [command = '', ...args] = [...before, program.command, ...program.args]
  if (!box?.boxed) expectUnboxed()
  const more = box ? ['pipe' as const, ...(box.descriptors ?? [])] : []
  const stdio = ['pipe' as const, 'pipe' as const, 'pipe' as const, ...more]
  const child = endedFirst(() => spawn(command, args, { cwd: folder, env, stdio, detached: true }))
  box?.begun(child.pid)
  try {
    await new Promise<void>((done, fail) => {
      child.once('spawn', done)
      child.once('error', fail)
    })
  } catch (error) {
    box?.release()
    throw notStarted(program.command, error)
  }
  return { child, box, mark }
}

/** A shell in the box says (on 3) that the box is made, and becomes the program. */
const BEGIN = ['--noprofile', '--norc', '-c', 'echo >&3; exec 3>&-; exec "$@"', 'begin']

/** Says whether the shell in the box has spoken, once that is certain. */
function hasBegun({ stdio }: ChildProcess): Promise<boolean> {
  const status = stdio[3] as Readable | null
  return new Promise((resolve_) => {
    status?.once('data', () => resolve_(true))
    status?.once('close', () => resolve_(false))
    status?.once('error', () => resolve_(false))
  })
}

function accompany(
  child: ChildProcess,
  group: Group,
  box: Enclosed | undefined,
  listener: Listener,
  over: () => void,
): Companion {
  const errors = tail(MAX_ERRORS)
  const gone = new Promise<void>((resolve_) => {
    // It may have ended before it was heard that it began.
    if (child.exitCode !== null || child.signalCode !== null) resolve_()
    else child.once('exit', () => resolve_())
  })
  let isOver = false
  let stopping: Promise<void> | undefined

  child.stdout?.on('data', (bytes: Uint8Array) => {
    if (!isOver) listener.heard(bytes)
  })
  child.stderr?.on('data', (bytes: Buffer) => errors.add(bytes))
  for (const stream of child.stdio) stream?.on('error', () => undefined)
  // What it left running may hold its output open for ever; so it is its own end that counts.
  void gone.then(() => setTimeout(() => finish(howEnded(child)), DRAIN))

  function finish(how: string): void {
    if (isOver) return
    isOver = true
    endAtOnce(group)
    over()
    const repeated = box?.repeated()
    box?.release()
    for (const stream of child.stdio) stream?.destroy()
    listener.ended(repeated === undefined ? how : `was stopped: it went on making ${repeated}, which is protected`)
  }

  async function end(): Promise<void> {
    child.stdin?.end()
    const late = await Promise.race([gone, wait(PATIENCE, 'late' as const, { ref: false })])
    if (late) await stop(group, PATIENCE)
    finish('was closed')
  }

  return {
    pid: group.id,
    boxed: box !== undefined,
    send: (text) =>
      new Promise((done, fail) => {
        if (isOver || !child.stdin?.writable) return fail(new Error('it has ended'))
        child.stdin.write(text, (error) => (error ? fail(error) : done()))
      }),
    lastWords: () => errors.text(),
    close: () => (stopping ??= end()),
  }
}

/** How long it may take to end by itself. */
const PATIENCE = 700
/** What it said before its end may still be on its way. */
const DRAIN = 20
const MAX_ERRORS = 8000

/** Keeps the last bytes of a stream of any length. */
function tail(limit: number): { add(bytes: Buffer): void; text(): string } {
  let kept = Buffer.alloc(0)
  return {
    add(bytes) {
      kept = Buffer.concat([kept, bytes.subarray(-limit)]).subarray(-limit)
    },
    text: () => kept.toString('utf8').trim(),
  }
}

async function boxFor(
  { sandbox, onUnboxed }: CompanionOptions,
  program: Program,
  folder: string,
): Promise<Enclosed | undefined> {
  const box = await sandbox?.enclose(folder, {
    network: program.network ?? true,
    seen: neededBy(program, folder),
    firstDescriptor: 4,
    localSockets: true,
  })
  if (box || !sandbox || sandbox.mode === 'off') return box
  const state = await sandbox.state()
  const why = state.inForce ? '' : [`No sandbox: ${state.why}`, state.remedy].filter(Boolean).join(' ')
  if (sandbox.mode === 'on') throw new Error(`It must run in a sandbox. ${why}`)
  onUnboxed?.(why)
  return undefined
}

/** What a program needs to see beside the workspace: where it is installed, and what its arguments name. */
function neededBy({ command, args }: Program, folder: string): string[] {
  return [folder, command, ...args].flatMap((word) => {
    const path = isAbsolute(word) || word.startsWith('.') ? resolve(folder, word) : undefined
    // What lies in its folder is seen with it, and a command may have put a link there.
    if (path?.startsWith(`${folder}/`)) return []
    return path !== undefined && existsSync(path) ? [installationOf(realpathSync(path))] : []
  })
}

/** The folder of the package that a file belongs to, with the packages that it uses. */
function installationOf(path: string): string {
  const modules = path.indexOf('/node_modules/')
  if (modules > 0) return path.slice(0, modules)
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    if (MANIFESTS.some((name) => existsSync(join(at, name)))) return at
  }
  return path
}

const MANIFESTS = ['package.json', 'pyproject.toml', 'pyvenv.cfg']

/** A box would only say that it could not start it. */
function isThere(command: string, folder: string): boolean {
  if (command.includes('/')) return existsSync(resolve(folder, command))
  return (process.env['PATH'] ?? '').split(delimiter).some((place) => existsSync(join(place, command)))
}

function notStarted(command: string, error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EACCES') return new Error(`${command} is no program that may be run.`)
  return new Error(`${command} could not be started: ${error instanceof Error ? error.message : String(error)}`)
}

function howEnded({ exitCode, signalCode }: ChildProcess): string {
  return signalCode === null ? `ended with code ${exitCode}` : `was ended by ${signalCode}`
}
