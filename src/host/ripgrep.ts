import { spawn } from 'node:child_process'
import { accessSync, constants, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { createInterface } from 'node:readline'
import { cleanEnvironment } from './environment.ts'
import type { Host, Search, SearchEnd } from './host.ts'
import { HostProblem } from './problem.ts'
import { type Reached, reach } from './reach.ts'
import type { Roots } from './roots.ts'
import { readMessage, type RgFile } from './rg-message.ts'
import { verifier } from './rg-verify.ts'

/** Searches with ripgrep, if the program can be had; else with nothing. */
export function ripgrep(roots: Roots): NonNullable<Host['search']> {
  let program: Promise<string | undefined> | undefined
  return async (search) => {
    program ??= findProgram(roots)
    const found = await program
    return found === undefined ? undefined : await runSearch(roots, found, search)
  }
}

async function runSearch(roots: Roots, program: string, search: Search): Promise<SearchEnd> {
  const { child, base, sure } = reach(roots, search.path, { need: 'read' }, (place) => {
    const { folder, target, base: real } = startOf(place, search.path)
    // It begins in a folder that is held. What it finds is looked up again, since it might follow a link made meanwhile.
    const env = cleanEnvironment(process.env)
    const running = spawn(program, rgArguments(search, target), { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    return { child: running, base: real, sure: verifier(roots) }
  })
  const files: RgFile[] = []
  let count = 0
  let size = 0
  let limited = false
  let problem = ''
  const abort = (): void => void child.kill('SIGKILL')
  search.signal?.addEventListener('abort', abort, { once: true })
  child.stderr.on('data', (data: Buffer) => (problem = `${problem}${data.toString('utf8')}`.slice(0, 4000)))
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code))
  })
  try {
    const open = new Map<string, RgFile>()
    for await (const line of createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
      const message = readMessage(line)
      if (message === undefined) continue
      if (message.kind === 'end') {
        const file = open.get(message.path)
        open.delete(message.path)
        if (file) files.push(file)
        continue
      }
      const file = open.get(message.path) ?? { path: message.path, hits: [] }
      open.set(message.path, file)
      if (count < search.limit) file.hits.push(message.hit)
      size += message.hit.bytes.length
      if (++count <= search.limit && size < MAX_BYTES) continue
      limited = true
      abort()
      break
    }
    files.push(...open.values())
    const code = await ended
    search.signal?.throwIfAborted()
    // One unreadable file is no reason to say nothing; a pattern that is refused is.
    if (code === 2 && count === 0 && /regex|glob|PCRE2/i.test(problem)) return { problem: problem.trim() }
    return { hits: files.flatMap((file) => sure.hits(base, file)), limited }
  } finally {
    sure.close()
    search.signal?.removeEventListener('abort', abort)
    abort()
  }
}

/** Lines can be as long as files; a search never holds more than this. */
const MAX_BYTES = 64 * 2 ** 20

/** The folder to begin in, by a path that stays the same thing; and what to search in it. */
function startOf({ found, folder, path }: Reached, given: string): { folder: string; target: string; base: string } {
  if (!found) throw new HostProblem('not-found', `File not found: ${given}`)
  if (found.stats.isDirectory()) return { folder: found.at, target: '.', base: path }
  if (!found.stats.isFile() || !folder) throw new HostProblem('not-file', `Not an ordinary file: ${given}`)
  return { folder: folder.at, target: `./${basename(path)}`, base: dirname(path) }
}

function rgArguments({ pattern, include, without }: Search, target: string): string[] {
  return [
    '--no-config',
    '--json',
    '--ignore-case',
    '--hidden',
    '--no-require-git',
    '--no-ignore-global',
    '--no-ignore-dot',
    '--no-messages',
    '--crlf',
    '--engine=auto',
    ...(include === undefined ? [] : onlyNames(include)),
    ...without.map((name) => `--glob=!**/${name}/**`),
    `--regexp=${pattern}`,
    '--',
    target,
  ]
}

/** A glob on the command line would also bring back what git ignores; a type of file does not, but knows only names. */
function onlyNames(include: string): string[] {
  return include.includes('/') ? [`--glob=${include}`] : [`--type-add=wanted:${include}`, '--type=wanted']
}

/** Our own copy, or one on the search path; never one that lies in a folder where the agent writes. */
async function findProgram(roots: Roots): Promise<string | undefined> {
  try {
    const { rgPath } = await import('@vscode/ripgrep')
    accessSync(rgPath, constants.X_OK)
    return rgPath
  } catch {
    // There is no package for this machine.
  }
  for (const folder of (process.env['PATH'] ?? '').split(':').filter((one) => isAbsolute(one))) {
    try {
      const real = realpathSync(join(folder, 'rg'))
      accessSync(real, constants.X_OK)
      if (!isAllowed(roots, real)) return real
    } catch {
      // Not here.
    }
  }
  return undefined
}

function isAllowed(roots: Roots, path: string): boolean {
  try {
    roots.judge(path, 'read')
    return true
  } catch {
    return false
  }
}
