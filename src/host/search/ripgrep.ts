import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { basename, dirname } from 'node:path'
import { createCleanEnvironment } from '../process/environment.ts'
import { findProgram } from '../process/find-program.ts'
import type { SearchMatch, Host, SearchRequest, SearchResult } from '../host.ts'
import { HostError } from '../host-error.ts'
import { type OpenedPath, withOpenedPath } from '../files/opened-path.ts'
import type { AllowedRoots } from '../files/allowed-roots.ts'
import { RIPGREP_OUTPUT_FLAGS, type RipgrepFile, type RipgrepMatch, createRipgrepParser } from './ripgrep-output.ts'
import { createMatchVerifier } from './verify-matches.ts'
import { stopWhenStuck } from './stop-when-stuck.ts'

export function createRipgrepSearch(roots: AllowedRoots): NonNullable<Host['search']> {
  let program: Promise<string | undefined> | undefined
  return async (search) => {
    program ??= findRipgrep(roots)
    const found = await program
    return found === undefined ? undefined : await runSearch(roots, found, search)
  }
}

async function runSearch(
  roots: AllowedRoots,
  program: string,
  search: SearchRequest,
): Promise<SearchResult | undefined> {
  const { child, base, verifier } = withOpenedPath(roots, search.path, { need: 'read' }, (opened) => {
    const { folder, target, base: real } = locateStart(opened, search.path)
    // ripgrep starts in a held folder. Its results are verified, since it might follow a link that was made meanwhile.
    const spawnOptions = { cwd: folder, env: createCleanEnvironment(process.env) }
    const running = spawn(program, ripgrepArguments(search, target), {
      ...spawnOptions,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return { child: running, base: real, verifier: createMatchVerifier(roots) }
  })
  const hits: SearchMatch[] = []
  let file: RipgrepFile | undefined
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

  /** Returns false when there are enough matches. */
  function onMatch(path: string, match: RipgrepMatch): boolean {
    size += match.bytes.length
    if (++count > search.limit || size > MAX_RESULT_BYTES) return false
    // The matches of a file come together, so each file is verified while the search continues.
    if (file?.path !== path) {
      if (file) hits.push(...verifier.verify(base, file))
      file = { path, matches: [] }
    }
    file.matches.push(match)
    return true
  }

  try {
    const parse = createRipgrepParser(onMatch, 2 * MAX_RESULT_BYTES)
    let limited = false
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) if ((limited = !parse(chunk))) break
    if (limited) abort()
    const code = limited ? null : await ended
    if (file) hits.push(...verifier.verify(base, file))
    search.signal?.throwIfAborted()
    if (stuck.wasStuck) return undefined
    // An unreadable file is no error; a rejected pattern is.
    if (code === 2 && count === 0 && /regex|glob|PCRE2/i.test(problem)) return { problem: problem.trim() }
    return { hits, limited }
  } finally {
    stuck.close()
    verifier.close()
    search.signal?.removeEventListener('abort', abort)
    abort()
  }
}

/** Lines can be as long as files. */
const MAX_RESULT_BYTES = 64 * 2 ** 20

/** The folder to start in, by a path that cannot be exchanged, and what to search there. */
function locateStart(
  { entry, folder, path }: OpenedPath,
  given: string,
): { folder: string; target: string; base: string } {
  if (!entry) throw new HostError('not-found', `File not found: ${given}`)
  if (entry.stats.isDirectory()) return { folder: entry.at, target: '.', base: path }
  if (!entry.stats.isFile() || !folder) throw new HostError('not-file', `Not an ordinary file: ${given}`)
  return { folder: folder.at, target: `./${basename(path)}`, base: dirname(path) }
}

function ripgrepArguments({ pattern, include, excludedFolders, limit }: SearchRequest, target: string): string[] {
  return [
    ...RIPGREP_OUTPUT_FLAGS,
    ...RIPGREP_SEARCH_FLAGS,
    // ripgrep holds the matches of a file until it has read all of it.
    `--max-count=${limit + 1}`,
    ...(include === undefined ? [] : includeArguments(include)),
    ...excludedFolders.map((name) => `--glob=!**/${name}/**`),
    // A file that was named is searched whatever it contains.
    ...(target === '.' ? [] : ['--text']),
    `--regexp=${pattern}`,
    '--',
    target,
  ]
}

const RIPGREP_SEARCH_FLAGS =
  '--no-config --ignore-case --hidden --no-require-git --no-ignore-global --no-ignore-dot --no-messages --crlf --engine=auto'.split(
    ' ',
  )

/** A glob would also include what git ignores; a file type does not, but matches only names. */
function includeArguments(include: string): string[] {
  return include.includes('/') ? [`--glob=${include}`] : [`--type-add=wanted:${include}`, '--type=wanted']
}

export async function findRipgrep(roots: AllowedRoots): Promise<string | undefined> {
  try {
    const { rgPath } = await import('@vscode/ripgrep')
    accessSync(rgPath, constants.X_OK)
    return rgPath
  } catch {
    // There is no package for this platform.
    return findProgram('rg', roots)
  }
}
