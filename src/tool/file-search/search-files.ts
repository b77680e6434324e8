import { createContext, Script } from 'node:vm'
import type { Files, SearchMatch, SearchRequest, SearchResult } from '../../host/host.ts'
import { detectEncoding, decodeText } from '../text/encoding.ts'
import { createGlobNameMatcher } from './glob.ts'
import { walkFiles } from './walk-files.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/** Searches by reading the files, where no search program is available. It finds the same lines. */
export async function searchFiles(files: Files, top: string, search: SearchRequest): Promise<SearchResult> {
  const matcher = createLineMatcher(search.pattern)
  if ('problem' in matcher) return matcher
  const { lines: matching } = matcher
  const hits: SearchMatch[] = []
  let limited = false

  async function searchFile(path: string): Promise<void> {
    if (limited) return
    const lines = await readLines(files, path)
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
  if (info?.kind === 'file') await searchFile(search.path)
  else {
    const folder = await files.resolve(search.path)
    const isIncluded = search.include === undefined ? () => true : createGlobNameMatcher(search.include, true)
    const options = {
      folder,
      top,
      ignoreOptions: { git: true, gemini: false },
      excludedFolders: search.excludedFolders,
      isWanted: (within: string, name: string) => isIncluded(`${within}/${name}`.slice(folder.length + 1)),
      ...defined({ signal: search.signal }),
    }
    // One file at a time limits the memory.
    let last = Promise.resolve()
    await walkFiles(files, options, (path) => (last = last.then(() => searchFile(path))))
  }
  return { hits, limited }
}

/** Undefined for files with a zero byte or of more than 32 MiB. */
export async function readLines(files: Files, path: string): Promise<readonly string[] | undefined> {
  const bytes = await files.read(path, { from: 0, bytes: MAX_FILE_BYTES + 1 }).catch(() => undefined)
  if (!bytes || bytes.length > MAX_FILE_BYTES) return undefined
  const encoding = await detectEncoding(bytes)
  // An empty file has no lines, not one empty line.
  if (!encoding || bytes.length <= encoding.bom.length) return undefined
  return (await decodeText(bytes, encoding)).replace(/\r?\n$/, '').split(/\r?\n/)
}

const MAX_FILE_BYTES = 32 * 2 ** 20

/** Tests lines in a context where a pattern that does not terminate can be stopped. */
function createLineMatcher(pattern: string): { lines: (all: readonly string[]) => number[] } | { problem: string } {
  let test: RegExp
  try {
    test = compilePattern(pattern)
  } catch (error) {
    return { problem: getErrorMessage(error) }
  }
  const context = createContext({ test, all: [] as readonly string[] })
  const script = new Script('all.reduce((found, line, at) => (test.test(line) && found.push(at), found), [])')
  return {
    lines(all) {
      context['all'] = all
      try {
        return script.runInContext(context, { timeout: MATCH_TIMEOUT_MS }) as number[]
      } catch {
        return []
      }
    },
  }
}

/** Milliseconds per file. */
const MATCH_TIMEOUT_MS = 2000

function compilePattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'iu')
  } catch {
    return new RegExp(pattern, 'i')
  }
}
