import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { localHost, type LocalHost } from '../../../src/host/local-host.ts'
import { clearAway } from '../../support/clear.ts'
import type { Escape } from './escape.ts'

const WON = 'ESCAPED-7f3a'

/** Tries a way out, in a place of its own below a folder. Gives what must not have happened and did. */
export async function attempt(escape: Escape, base: string): Promise<string[]> {
  mkdirSync(base)
  const [home, outside, scratch] = [join(base, 'home'), join(base, 'outside'), join(base, 'ours/scratch')]
  const ws = escape.atHome ? home : join(base, 'ws')
  furnish(home, outside, ws, escape)
  const reached: string[] = []
  const sockets = {
    SOCK: join(outside, 'sock'),
    SOCK_INSIDE: join(ws, 'outside.sock'),
    SOCK_ABSTRACT: `dragoman-${process.pid}-${base.replaceAll('/', '-')}`,
  }
  const servers = await Promise.all([
    serve(sockets.SOCK, 'the socket outside was reached', reached),
    serve(sockets.SOCK_INSIDE, 'the socket in the workspace was reached', reached),
    serve(0, 'the port was reached', escape.network ? [] : reached),
  ])
  const address = servers[2]?.address()
  await serveAbstract(sockets.SOCK_ABSTRACT, () => reached.push('the socket without a file was reached'))
  const victim = spawn('sleep', ['600'], {
    env: { PATH: process.env['PATH'], SECRET: 'canary-victim' },
    stdio: 'ignore',
  })
  const env = {
    ...sockets,
    OUT: outside,
    H: home,
    HOME: home,
    SCRATCH: scratch,
    WON,
    PID: String(victim.pid),
    PORT: String(typeof address === 'object' ? address?.port : 0),
    NODE: process.execPath,
    PYTHON: python ?? 'false',
  }
  if (escape.before !== undefined)
    execFileSync('bash', ['-c', escape.before], { cwd: ws, env: { ...process.env, ...env } })
  const before = guarded(home, outside, ws, escape)
  const path = process.env['PATH']
  if (escape.onPath !== undefined) process.env['PATH'] = [join(ws, escape.onPath), path].join(delimiter)
  const host = localHost({
    folders: [ws],
    scratch,
    sandbox: {
      mode: 'on',
      home,
      protect: ['deploy/**', 'deploy.yml'],
      hiddenFolders: [join(base, 'ours')],
      network: escape.network ?? false,
    },
  })
  let output = ''
  try {
    for (const command of escape.commands) output += await run(host, command, ws, env, escape)
    await wait(escape.lingers ?? 0)
  } finally {
    host.close()
    process.env['PATH'] = path
  }
  await wait(escape.lingers === undefined ? 0 : 50)
  chmodSync(ws, 0o755)
  if (escape.after !== undefined) spawnSync('bash', ['-c', escape.after], { cwd: ws, env: { ...process.env, ...env } })
  const problems = [...reached, ...differences(before, guarded(home, outside, ws, escape))]
  if (output.includes(WON)) problems.push(`it won: ${output.slice(0, 500)}`)
  if (output.includes('canary')) problems.push(`a secret was read: ${output.slice(0, 500)}`)
  if (victim.exitCode !== null || victim.signalCode !== null) problems.push('the process outside was ended')
  victim.kill('SIGKILL')
  for (const server of servers) server?.close()
  clearAway(base)
  return problems
}

/** Python makes system calls by their numbers. */
export const python = ['/usr/bin/python3', '/usr/local/bin/python3', '/bin/python3'].find(
  (path) => spawnSync(path, ['-c', 'import ctypes']).status === 0,
)

async function run(
  host: LocalHost,
  command: string,
  folder: string,
  env: Record<string, string>,
  escape: Escape,
): Promise<string> {
  if (!escape.asServer) {
    const end = await host.processes.run({ command, folder, env, timeout: 20_000 })
    return `${end.output}${end.outputFile === undefined ? '' : readFileSync(end.outputFile, 'utf8').slice(0, 100_000)}`
  }
  let output = ''
  await new Promise<void>((resolve, reject) => {
    const program = { command: '/bin/bash', args: ['-c', command], folder, env }
    const listener = {
      onOutput: (bytes: Uint8Array) => (output += Buffer.from(bytes).toString()),
      onExit: () => resolve(),
    }
    host.stdioProcesses.open(program, listener).catch(reject)
  })
  return output
}

function furnish(home: string, outside: string, ws: string, { git, atHome }: Escape): void {
  const files = {
    '.ssh/id_rsa': 'canary-key',
    '.npmrc': 'canary-token',
    '.netrc': 'canary-netrc',
    '.aws/credentials': 'canary-aws',
    '.config/gcloud/key': 'canary-gcloud',
    '.config/dragoman/config.json': 'canary-config',
    '.cargo/bin/tool': 'tool',
    '.cargo/registry/package': 'cached',
    '.npm/_cacache/package': 'cached',
    '.m2/repository/package': 'cached',
    '.cache/ms-playwright/browser': 'cached',
    'go/pkg/mod/package': 'cached',
    ...(!atHome && { 'private/notes': 'canary-notes' }),
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), `${text}\n`)
  }
  for (const folder of [outside, join(ws, 'src')]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(outside, 'secret.txt'), 'OUTSIDE\n')
  writeFileSync(join(ws, 'README.md'), '# demo\n')
  // As others would find it: who can write here is decided by the sandbox alone.
  chmodSync(outside, 0o777)
  if (git)
    execFileSync('git', ['init', '-q'], { cwd: ws, stdio: 'ignore', env: { PATH: process.env['PATH'], HOME: home } })
}

function serve(path: string | 0, problem: string, reached: string[]): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      reached.push(problem)
      socket.on('error', () => undefined).end('reached\n')
    })
    server.once('error', () => resolve(undefined))
    server.listen(path === 0 ? { port: 0, host: '127.0.0.1' } : { path }, () => resolve(server))
    server.unref()
  })
}

/** Node cannot listen on a socket without a file. One process listens on all of them. */
function serveAbstract(name: string, reached: () => void): Promise<void> {
  if (python === undefined) return Promise.resolve()
  const child = (abstractServer ??= startAbstractServer(python))
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('the sockets without a file are gone')))
    abstractEvents.on(`listening ${name}`, resolve).on(`reached ${name}`, reached)
    child.stdin.write(`${name}\n`)
  })
}

/** To be called when nothing is tried any more. */
export function closeAbstractSockets(): void {
  abstractServer?.stdin.end()
  abstractServer = undefined
}

const abstractEvents = new EventEmitter()
let abstractServer: ChildProcessByStdio<Writable, Readable, null> | undefined

function startAbstractServer(program: string): ChildProcessByStdio<Writable, Readable, null> {
  const script = `import os, socket, sys, threading
def say(text):
    os.write(1, (text + '\\n').encode())
def serve(name):
    s = socket.socket(socket.AF_UNIX); s.bind(b'\\0' + name.encode()); s.listen(); say('listening ' + name)
    while True:
        s.accept(); say('reached ' + name)
for line in sys.stdin:
    threading.Thread(target=serve, args=(line.strip(),), daemon=True).start()`
  const child = spawn(program, ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] })
  child.setMaxListeners(0)
  createInterface(child.stdout).on('line', (line) => abstractEvents.emit(line))
  return child
}

/** Names at the top of a workspace that a command must not make or change. */
const NAMES =
  `.agents .aider.conf.yml .amazonq .augment .cargo/config .cargo/config.toml .circleci .claude .codex .crush.json
  .cursor .cursorrules .devcontainer .devcontainer.json .dir-locals.el .dragoman .drone.yml .envrc .exrc .factory .fleet
  .Cargo/config.toml .cargo/Config.toml .forgejo/workflows .gemini .git/commondir .git/config .git/config.worktree .git/hooks .git/modules .git/worktrees
  .gitea/workflows .githooks .github/copilot-instructions.md .github/instructions .github/prompts .github/workflows
  .GitHub/workflows .github/Workflows .gitlab-ci.yml .gitmodules .goose .hg/hgrc .hg/sharedpath .husky .hus\u212ay .idea .jj/repo/config.toml .kiro .lvimrc .mcp.json .mise .mise.toml
  .npmrc .nvim.lua .nvimrc .opencode .pnpmfile.cjs .pre-commit-config.yaml .roo .rules .sl/config .sl/sharedpath .trae .travis.yml .vimrc
  .vscode .VSCode .v\u017fcode .windsurf .yarnrc .yarnrc.yml .zed AGENTS.md CLAUDE.local.md CLAUDE.md GEMINI.md Jenkinsfile QWEN.md
  any.code-workspace bunfig.toml deploy deploy.yml lefthook.yml mise.local.toml mise.toml pip.conf uv.toml x.code-workspace`.split(
    /\s+/,
  )
const AT_HOME =
  `.bashrc .profile .zshrc .bash_profile .gitconfig .config/fish .config/systemd .config/autostart .local/bin .ssh
  .npmrc .netrc .aws .config/gcloud .config/dragoman .local/share/dragoman`.split(/\s+/)

/** All that must stay as it is. */
function guarded(home: string, outside: string, ws: string, { atHome }: Escape): string[] {
  const names = atHome ? [...NAMES, ...AT_HOME].filter((name) => name !== '.npmrc') : NAMES
  const machine = ['/', '/etc', '/usr', '/usr/local/bin', '/opt', '/var', '/var/lib', '/srv', '/boot', '/root', '/home']
  const temporary = ['/tmp', '/var/tmp', '/dev/shm', '/run']
  return [
    ...everything(outside),
    ...(atHome ? [] : everything(home)),
    ...names.flatMap((name) => everything(join(ws, name))),
    ...readdirSync(ws, 'latin1').filter((name) => name.endsWith('.code-workspace')),
    ...(statsOf(join(ws, '.jj/repo'))?.isFile() ? everything(join(ws, '.jj/repo')) : []),
    ...(isBareRepository(ws) ? [`${ws} is a repository`] : []),
    ...[...machine, ...temporary].flatMap((folder) => everything(join(folder, 'dragoman-pwned'))),
  ]
}

/** As git sees it: such a folder has settings, which name programs. */
function isBareRepository(folder: string): boolean {
  const has = (name: string): boolean => statsOf(join(folder, name)) !== undefined
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')))
}

function everything(path: string): string[] {
  const stats = statsOf(path)
  if (!stats) return []
  const about = `${path} ${stats.mode.toString(8)}`
  if (stats.isDirectory()) return [about, ...readdirSync(path).flatMap((name) => everything(join(path, name)))]
  if (stats.isSymbolicLink()) return [`${about} ${readlinkSync(path)}`]
  return [`${about} ${stats.isFile() ? readFileSync(path, 'latin1') : ''}`]
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

function differences(before: readonly string[], after: readonly string[]): string[] {
  // An empty folder for hooks is made where there is none, so that it can be mounted; and what git makes itself may stay.
  const isHarmless = (one: string): boolean =>
    one.endsWith('/.git/hooks 40755') || /\/\.git\/(?:hooks\/[\w-]+\.sample|config) (?![^]*evil)/.test(one)
  const made = after.filter((one) => !before.includes(one) && !isHarmless(one))
  return [
    ...before.filter((one) => !after.includes(one)).map((one) => `gone: ${one}`),
    ...made.map((one) => `new: ${one}`),
  ]
}
