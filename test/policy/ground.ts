import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { clearAway } from '../support/clear.ts'

/** A step of a fixture. */
export interface Step {
  readonly op: string
  readonly path: string
  readonly text?: string
}

/** Folders for one case: the workspace, its sibling, and a home. */
export interface Ground extends Disposable {
  readonly base: string
  readonly ws: string
  readonly outside: string
  readonly home: string
  /** Fills in the names of the folders. */
  readonly fill: (text: string) => string
  /** Takes more steps, counted from the folder above the workspace. */
  readonly take: (steps: readonly Step[]) => void
}

/** Makes the folders, and what the steps say, counted from the workspace or from the folder above it. */
export function ground(steps: readonly Step[] = [], from: 'ws' | '.' = 'ws'): Ground {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'dragoman-policy-')))
  const [ws, outside, home] = [join(base, 'ws'), join(base, 'outside'), join(base, 'home')]
  for (const folder of [ws, outside, home]) mkdirSync(folder)
  const names: Readonly<Record<string, string>> = {
    '{WS}': ws,
    '{OUTSIDE}': outside,
    '{HOME}': home,
    '{AGENT_HOME}': join(home, '.config/dragoman'),
    '{EXTRA}': join(base, 'extra'),
  }
  const fill = (text: string) => text.replace(/(?<!\$)\{[A-Z_]+\}/g, (name) => names[name] ?? name)
  for (const step of withRepository(steps, join(base, from))) {
    const at = resolve(base, from, fill(step.path))
    mkdirSync(dirname(at), { recursive: true })
    take(step.op, at, fill(step.text ?? ''), base)
  }
  const takeAll = (more: readonly Step[]): void => {
    for (const { op, path, text = '' } of more) take(op, resolve(base, fill(path)), fill(text), base)
  }
  return { base, ws, outside, home, fill, take: takeAll, [Symbol.dispose]: () => clearAway(base) }
}

const repositories = new Map<string, string>()

/** A repository is made once and then copied, since git takes its time. Gives the steps that are left to be taken. */
function withRepository(steps: readonly Step[], folder: string): readonly Step[] {
  const count = steps.findIndex(({ op }) => op === 'git-init-and-commit') + 1
  const first = steps.slice(0, count)
  const key = JSON.stringify(first)
  if (count === 0 || /\{[A-Z_]+\}/.test(key)) return steps
  const made = repositories.get(key)
  if (made !== undefined) {
    cpSync(made, folder, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
    return steps.slice(count)
  }
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'dragoman-policy-')))
  process.once('exit', () => clearAway(place))
  repositories.set(key, place)
  for (const { op, path, text = '' } of first) {
    mkdirSync(dirname(resolve(place, path)), { recursive: true })
    take(op, resolve(place, path), text, place)
  }
  return withRepository(steps, folder)
}

function take(op: string, at: string, text: string, base: string): void {
  const step = STEPS[op]
  if (!step) throw new Error(`a step that nobody knows: ${op}`)
  step(at, text, base)
}

const STEPS: Readonly<Record<string, (at: string, text: string, base: string) => void>> = {
  file: (at, text) => writeFileSync(at, text),
  exec: (at, text) => writeFileSync(at, text, { mode: 0o755 }),
  append: (at, text) => appendFileSync(at, text),
  mkdir: (at) => void mkdirSync(at, { recursive: true }),
  symlink: (at, text) => symlinkSync(text, at),
  'replace-with-symlink'(at, text) {
    clearAway(at)
    symlinkSync(text, at)
  },
  hardlink: (at, text, base) => linkSync(resolve(base, text), at),
  rename: (at, text) => renameSync(at, resolve(dirname(at), text)),
  remove: (at) => clearAway(at),
  fifo: (at) => void execFileSync('mkfifo', [at]),
  // A socket is made by whoever listens on it, and stays when that process is killed.
  socket: (at) => void spawnSync(process.execPath, ['-e', LISTEN, at], { stdio: 'ignore' }),
  sparse(at, text) {
    writeFileSync(at, '')
    truncateSync(at, Number(text))
  },
  'file-mode'(at, text) {
    writeFileSync(at, 'x\n')
    chmodSync(at, Number.parseInt(text, 8))
  },
  'touch-old': (at) => utimesSync(at, 1, 1),
  bare(at, text) {
    for (const folder of ['objects', 'refs']) mkdirSync(join(at, folder), { recursive: true })
    writeFileSync(join(at, 'HEAD'), 'ref: refs/heads/main\n')
    writeFileSync(join(at, 'config'), text)
  },
  'git-init-and-commit'(at) {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: at, stdio: 'ignore', env: GIT_ENV })
    git('init', '-q', '-b', 'main', '--template=')
    mkdirSync(join(at, '.git/hooks'))
    git('config', 'user.name', 'A')
    git('config', 'user.email', 'a@example.com')
    git('add', '-A')
    git('commit', '-q', '-m', 'one')
    git('commit', '-q', '--allow-empty', '-m', 'two')
  },
}

const LISTEN = "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))"

const GIT_ENV = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' }
