import type { SearchMatch, SearchRequest, SearchResult } from '../../host/host.ts'
import { HostError } from '../../host/host-error.ts'
import { isInsideFolder } from '../../model/inside-folder.ts'
import type { JsonObject } from '../../model/json.ts'
import type { SecretFileTest } from '../../policy/path/secret-file-test.ts'
import type { Tool, ToolContext } from '../tool.ts'
import { searchFiles, readLines } from '../file-search/search-files.ts'
import { findGlobProblem } from '../file-search/glob.ts'
import { isPathIgnored, type IgnoreOptions } from '../file-search/ignore-rules.ts'
import { truncateLine } from '../text/line-slice.ts'
import text from './search-file-content.md'
import { createErrorOutput } from '../error-output.ts'
import { defineBuiltin, createSameToolAliases, createSimilarToolAliases } from './support/define-builtin.ts'
import { getOptionalTextArgument, getTextArgument } from './support/read-arguments.ts'
import { EXCLUDED_FOLDERS } from './support/excludes.ts'
import {
  resolveSearchRoots,
  toGivenPath,
  toDisplayPath,
  createPathEffects,
  type WorkspaceFolder,
  findWorkspaceFolder,
} from './support/paths.ts'
import { defined } from '../../model/defined.ts'

export function createSearchFileContentTool(isSecret: SecretFileTest): Tool {
  return defineBuiltin({
    name: 'search_file_content',
    text,
    kind: 'search',
    hookName: 'Grep',
    verb: 'Search in',
    safeToRetry: true,
    aliases: { dir_path: 'path', include_pattern: 'include' },
    ruleAliases: ['GrepTool'],
    nameAliases: [
      ...createSameToolAliases('grep_search', 'SearchText'),
      // These are case-sensitive.
      ...createSimilarToolAliases('grep', 'Grep', 'grep_files', 'search_files', 'ripgrep', 'rg', 'codebase_search'),
    ],
    properties: {
      pattern: { type: 'string', description: 'The regular expression.' },
      path: { type: 'string', description: 'Directory or file to search; all of the workspace without it.' },
      include: { type: 'string', description: 'Glob that file names must match, such as *.{ts,tsx}.' },
    },
    required: ['pattern'],
    ruleInput: (path) => ({ path }),
    effects: (input, folders) => resolveSearchRoots(input, folders).flatMap((path) => createPathEffects('read', path)),

    check(input) {
      if (getTextArgument(input, 'pattern') === '') return 'pattern must not be empty.'
      const include = getOptionalTextArgument(input, 'include')
      return include === undefined ? undefined : findGlobProblem(include)
    },

    async run(input, context) {
      const pattern = getTextArgument(input, 'pattern')
      const hits: SearchMatch[] = []
      let limited = false
      let secret = 0
      for (const root of resolveSearchRoots(input, context.folders)) {
        const end = await searchPath(input, context, root, MAX_MATCHES - hits.length)
        if ('problem' in end) return createErrorOutput(`The pattern is not valid: ${end.problem}`, 'invalid-pattern')
        // To search a file with secrets, a call must name it, so that it needs approval.
        const top = context.folders.find((folder) => isInsideFolder(root, folder)) ?? ''
        const allowedHits = isSecret(root, top) ? end.hits : end.hits.filter(({ path }) => !isSecret(path, top))
        secret += end.hits.length - allowedHits.length
        hits.push(...allowedHits)
        limited ||= end.limited
      }
      const include = getOptionalTextArgument(input, 'include')
      const filter = include === undefined ? '' : ` (filter: '${include}')`
      const searchLabel = `pattern '${pattern}' in path "${getOptionalTextArgument(input, 'path') ?? '.'}"${filter}`
      const hidden =
        secret === 0 ? '' : `\n(${secret} more in files that usually contain secrets; to search such a file, name it.)`
      if (hits.length === 0)
        return { content: `No matches found for ${searchLabel}.${hidden}`, display: 'No matches found' }

      const count = `${hits.length} ${hits.length === 1 ? 'match' : 'matches'}`
      const limit = limited ? ` (results limited to ${MAX_MATCHES} matches)` : ''
      return {
        content: `Found ${count} for ${searchLabel}${limit}:\n---\n${formatHits(hits, context)}${hidden}`,
        display: `Found ${count}${limited ? ' (limited)' : ''}`,
      }
    },
  })
}

const MAX_MATCHES = 20_000
const MAX_OUTPUT_CHARS = 200_000

async function searchPath(input: JsonObject, context: ToolContext, root: string, limit: number): Promise<SearchResult> {
  const { host, folders, signal } = context
  if (!(await host.files.info(root))) throw new HostError('not-found', `File not found: ${root}`)
  const include = getOptionalTextArgument(input, 'include')
  const search: SearchRequest = {
    pattern: getTextArgument(input, 'pattern'),
    path: root,
    excludedFolders: EXCLUDED_FOLDERS,
    limit,
    signal,
    ...defined({ include }),
  }
  const top = await findWorkspaceFolder(host, folders, await host.files.resolve(root))
  const end = (await host.search?.(search)) ?? (await searchFiles(host.files, top.realPath, search))
  if ('problem' in end) return end
  // In ripgrep, a glob that contains folders overrides git's ignore rules.
  const respect = { git: include?.includes('/') ?? false, gemini: true }
  return { ...end, hits: await decodeHits(await filterIgnoredHits(end.hits, context, top, respect), context) }
}

/** Search programs expect UTF-8 and show other bytes as U+FFFD; those lines are decoded here. */
async function decodeHits(hits: readonly SearchMatch[], { host }: ToolContext): Promise<readonly SearchMatch[]> {
  const damaged = new Set(hits.filter(({ text: found }) => found.includes('\uFFFD')).map(({ path }) => path))
  if (damaged.size === 0) return hits
  const texts = new Map<string, readonly string[] | undefined>()
  for (const path of damaged) texts.set(path, await readLines(host.files, path))
  return hits.map((hit) => ({ ...hit, text: texts.get(hit.path)?.[hit.line - 1] ?? hit.text }))
}

/** Without ignored files, sorted by path and line, with the paths as the user gave them. */
async function filterIgnoredHits(
  hits: readonly SearchMatch[],
  { host }: ToolContext,
  top: WorkspaceFolder,
  respect: IgnoreOptions,
): Promise<SearchMatch[]> {
  const hidden = new Map<string, boolean>()
  const hasRules = (await host.files.info(`${top.realPath}/.geminiignore`).catch(() => undefined)) !== undefined
  for (const { path } of hasRules || respect.git ? hits : []) {
    if (!hidden.has(path)) hidden.set(path, await isPathIgnored(host.files, top.realPath, path, respect))
  }
  return hits
    .filter(({ path }) => !hidden.get(path))
    .sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1))
    .map((hit) => ({ ...hit, path: toGivenPath(top, hit.path) }))
}

function formatHits(hits: readonly SearchMatch[], { folders }: ToolContext): string {
  const parts: string[] = []
  let size = 0
  let last = ''
  for (const [at, { path, line, text: found }] of hits.entries()) {
    const head = path === last ? '' : `${last === '' ? '' : '---\n'}File: ${toDisplayPath(path, folders)}\n`
    const part = `${head}L${line}: ${truncateLine(found.trimEnd())}\n`
    size += part.length
    if (size > MAX_OUTPUT_CHARS) {
      parts.push(`---\n(${hits.length - at} more matches are omitted; narrow the search.)\n`)
      break
    }
    parts.push(part)
    last = path
  }
  return `${parts.join('')}---`
}
