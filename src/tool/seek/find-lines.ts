import { createContext, Script } from 'node:vm'
import type { Files, Hit, Search, SearchEnd } from '../../host/host.ts'
import { codingOf, decode } from '../text/coding.ts'
import { nameMatcher } from './glob.ts'
import { walkTree } from './tree.ts'

/** Searches file contents by reading the files, where there is no program made for it. It finds the same lines. */
export async function findLines(files: Files, top: string, search: Search): Promise<SearchEnd> {
  const matcher = lineMatcher(search.pattern)
  if ('problem' in matcher) return matcher
  const { lines: matching } = matcher
  const hits: Hit[] = []
  let limited = false

  async function look(path: string): Promise<void> {
    if (limited) return
    const lines = await linesOf(files, path)
    if (lines === undefined || limited) return
    for (const at of matching(lines)) {
      if (hits.length >= search.limit) {
        limited = true
        return
      }
      hits.push({ path, line: at + 1, text: lines[at] ?? '' })
    }
  }

  const info = await files.info(search.path)
  if (info?.kind === 'file') await look(search.path)
  else {
    const folder = await files.resolve(search.path)
    const fits = search.include === undefined ? () => true : nameMatcher(search.include, true)
    const options = {
      folder,
      top,
      respect: { git: true, gemini: false },
      without: search.without,
      wanted: (within: string, name: string) => fits(`${within}/${name}`.slice(folder.length + 1)),
      ...(search.signal && { signal: search.signal }),
    }
    // One file at a time: what is read is held in memory.
    let last = Promise.resolve()
    await walkTree(files, options, (path) => (last = last.then(() => look(path))))
  }
  return { hits, limited }
}

/** The lines of a file, in whatever way it is encoded. One with a zero byte is no text; one that is too large is passed over. */
export async function linesOf(files: Files, path: string): Promise<readonly string[] | undefined> {
  const bytes = await files.read(path, { from: 0, bytes: MAX_FILE + 1 }).catch(() => undefined)
  if (!bytes || bytes.length > MAX_FILE) return undefined
  const coding = await codingOf(bytes)
  // A file without a byte has no lines, not one that is empty.
  if (!coding || bytes.length <= coding.mark.length) return undefined
  return (await decode(bytes, coding)).replace(/\r?\n$/, '').split(/\r?\n/)
}

const MAX_FILE = 32 * 2 ** 20

/** Tests lines in a place where a pattern that never comes to an end can be stopped. */
function lineMatcher(pattern: string): { lines: (all: readonly string[]) => number[] } | { problem: string } {
  let test: RegExp
  try {
    test = compile(pattern)
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
  const context = createContext({ test, all: [] as readonly string[] })
  const script = new Script('all.reduce((found, line, at) => (test.test(line) && found.push(at), found), [])')
  return {
    lines(all) {
      context['all'] = all
      try {
        return script.runInContext(context, { timeout: PATIENCE }) as number[]
      } catch {
        return []
      }
    },
  }
}

/** Milliseconds for one file. */
const PATIENCE = 2000

function compile(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'iu')
  } catch {
    return new RegExp(pattern, 'i')
  }
}
