import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { cleanEnvironment } from './environment.ts'
import { findProgram } from './find-program.ts'
import type { Hit, Host, Search, SearchEnd } from './host.ts'
import { HostProblem } from './problem.ts'
import { type Reached, reach } from './reach.ts'
import type { Roots } from './roots.ts'
import { RG_FORMAT, type RgFile, type RgHit, rgReader } from './rg-output.ts'
import { verifier } from './rg-verify.ts'
import { stopWhenStuck } from './stuck.ts'

/** Searches with ripgrep, if the program can be had; else with nothing. */
export function ripgrep(roots: Roots): NonNullable<Host['search']> {
  let program: Promise<string | undefined> | undefined
  return async (search) => {
    program ??= ripgrepProgram(roots)
    const found = await program
    return found === undefined ? undefined : await runSearch(roots, found, search)
  }
}

async function runSearch(roots: Roots, program: string, search: Search): Promise<SearchEnd | undefined> {
  const { child, base, sure } = reach(roots, search.path, { need: 'read' }, (place) => {
    const { folder, target, base: real } = startOf(place, search.path)
    // It begins in a folder that is held. What it finds is looked up again, since it might follow a link made meanwhile.
    const env = cleanEnvironment(process.env)
    const running = spawn(program, rgArguments(search, target), { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    return { child: running, base: real, sure: verifier(roots) }
  })
  const hits: Hit[] = []
  let file: RgFile | undefined
  let count = 0
  let size = 0
  let problem = ''
  const abort = (): void => void child.kill('SIGKILL')
  search.signal?.addEventListener('abort', abort, { once: true })
  const stuck = stopWhenStuck(child.pid, abort)
  child.stderr.on('data', (data: Buffer) => (problem = `${problem}${data.toString('utf8')}`.slice(0, 4000)))
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code))
  })

  /** Takes a match; false if that is enough. */
  function take(path: string, hit: RgHit): boolean {
    size += hit.bytes.length
    if (++count > search.limit || size > MAX_BYTES) return false
    // The lines of a file come one after the other, so what was found is made sure of while the search goes on.
    if (file?.path !== path) {
      if (file) hits.push(...sure.hits(base, file))
      file = { path, hits: [] }
    }
    file.hits.push(hit)
    return true
  }

  try {
    const limited = !(await readAll(child.stdout, rgReader(take, 2 * MAX_BYTES)))
    if (limited) abort()
    const code = limited ? null : await ended
    if (file) hits.push(...sure.hits(base, file))
    search.signal?.throwIfAborted()
    if (stuck.wasStuck) return undefined
    // One unreadable file is no reason to say nothing; a pattern that is refused is.
    if (code === 2 && count === 0 && /regex|glob|PCRE2/i.test(problem)) return { problem: problem.trim() }
    return { hits, limited }
  } finally {
    stuck.close()
    sure.close()
    search.signal?.removeEventListener('abort', abort)
    abort()
  }
}

/** Gives away what a stream brings, until a piece is not taken; says whether all were taken. */
async function readAll(stream: Readable, read: (piece: Buffer) => boolean): Promise<boolean> {
  for await (const piece of stream as AsyncIterable<Buffer>) if (!read(piece)) return false
  return true
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

function rgArguments({ pattern, include, without, limit }: Search, target: string): string[] {
  return [
    '--no-config',
    ...RG_FORMAT,
    '--ignore-case',
    '--hidden',
    '--no-require-git',
    '--no-ignore-global',
    '--no-ignore-dot',
    '--no-messages',
    '--crlf',
    '--engine=auto',
    // It holds what it finds in a file until it has seen all of it.
    `--max-count=${limit + 1}`,
    ...(include === undefined ? [] : onlyNames(include)),
    ...without.map((name) => `--glob=!**/${name}/**`),
    // A file that was named is searched whatever is in it.
    ...(target === '.' ? [] : ['--text']),
    `--regexp=${pattern}`,
    '--',
    target,
  ]
}

/** A glob on the command line would also bring back what git ignores; a type of file does not, but knows only names. */
function onlyNames(include: string): string[] {
  return include.includes('/') ? [`--glob=${include}`] : [`--type-add=wanted:${include}`, '--type=wanted']
}

/** The program: our own copy, or one on the search path. */
export async function ripgrepProgram(roots: Roots): Promise<string | undefined> {
  try {
    const { rgPath } = await import('@vscode/ripgrep')
    accessSync(rgPath, constants.X_OK)
    return rgPath
  } catch {
    // There is no package for this machine.
    return findProgram('rg', roots)
  }
}
