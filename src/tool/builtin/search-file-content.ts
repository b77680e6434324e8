import type { Hit, Search, SearchEnd } from '../../host/host.ts'
import { HostProblem } from '../../host/problem.ts'
import type { JsonObject } from '../../model/json.ts'
import type { SecretTest } from '../../policy/path/secret.ts'
import type { Tool, ToolContext } from '../define.ts'
import { findLines, linesOf } from '../seek/find-lines.ts'
import { globProblem } from '../seek/glob.ts'
import { isIgnored, type Respect } from '../seek/ignore-rules.ts'
import { shorten } from '../text/slice.ts'
import text from './search-file-content.md'
import { builtin, failure } from './support/builtin.ts'
import { someTextIn, textIn } from './support/input.ts'
import { LEFT_OUT } from './support/leave-out.ts'
import { absolute, byGivenName, shown, touching, type Workspace, workspaceOf } from './support/paths.ts'

/** Searches the contents of files. */
export function searchFileContent(isSecret: SecretTest): Tool {
  return builtin({
    name: 'search_file_content',
    text,
    kind: 'search',
    verb: 'Search in',
    aliases: { dir_path: 'path', include_pattern: 'include' },
    nameAliases: [
      { name: 'grep_search', parameters: {} },
      { name: 'SearchText', parameters: {} },
      // These mind the case of letters.
      { name: 'grep' },
      { name: 'Grep' },
      { name: 'grep_files' },
      { name: 'search_files' },
      { name: 'ripgrep' },
      { name: 'rg' },
      { name: 'codebase_search' },
    ],
    properties: {
      pattern: { type: 'string', description: 'The regular expression.' },
      path: { type: 'string', description: 'Directory or file to search; all of the workspace without it.' },
      include: { type: 'string', description: 'Glob that file names must match, such as *.{ts,tsx}.' },
    },
    required: ['pattern'],
    effects: (input, folders) => starts(input, folders).flatMap((path) => touching('read', path)),

    check(input) {
      if (textIn(input, 'pattern') === '') return 'pattern must not be empty.'
      const include = someTextIn(input, 'include')
      return include === undefined ? undefined : globProblem(include)
    },

    async run(input, context) {
      const pattern = textIn(input, 'pattern')
      const hits: Hit[] = []
      let limited = false
      let secret = 0
      for (const place of starts(input, context.folders)) {
        const end = await searchIn(input, context, place, LIMIT - hits.length)
        if ('problem' in end) return failure(`The pattern is not valid: ${end.problem}`, 'invalid-pattern')
        // Whoever wants to look into a file of secrets must name it, so that it is asked about.
        const top = context.folders.find((folder) => place === folder || place.startsWith(`${folder}/`)) ?? ''
        const open = isSecret(place, top) ? end.hits : end.hits.filter(({ path }) => !isSecret(path, top))
        secret += end.hits.length - open.length
        hits.push(...open)
        limited ||= end.limited
      }
      const include = someTextIn(input, 'include')
      const filter = include === undefined ? '' : ` (filter: '${include}')`
      const where = `pattern '${pattern}' in path "${someTextIn(input, 'path') ?? '.'}"${filter}`
      const hidden =
        secret === 0 ? '' : `\n(${secret} more in files that usually hold secrets; such a file must be named.)`
      if (hits.length === 0) return { content: `No matches found for ${where}.${hidden}`, display: 'No matches found' }

      const count = `${hits.length} ${hits.length === 1 ? 'match' : 'matches'}`
      const limit = limited ? ` (results limited to ${LIMIT} matches)` : ''
      return {
        content: `Found ${count} for ${where}${limit}:\n---\n${grouped(hits, context)}${hidden}`,
        display: `Found ${count}${limited ? ' (limited)' : ''}`,
      }
    },
  })
}

const LIMIT = 20_000
const MAX_TEXT = 200_000

function starts(input: JsonObject, folders: readonly string[]): string[] {
  const path = someTextIn(input, 'path')
  return path === undefined ? [...folders] : [absolute(path, folders)]
}

async function searchIn(input: JsonObject, context: ToolContext, place: string, limit: number): Promise<SearchEnd> {
  const { host, folders, signal } = context
  if (!(await host.files.info(place))) throw new HostProblem('not-found', `File not found: ${place}`)
  const include = someTextIn(input, 'include')
  const search: Search = {
    pattern: textIn(input, 'pattern'),
    path: place,
    without: LEFT_OUT,
    limit,
    signal,
    ...(include !== undefined && { include }),
  }
  const top = await workspaceOf(host, folders, await host.files.resolve(place))
  const end = (await host.search?.(search)) ?? (await findLines(host.files, top.real, search))
  if ('problem' in end) return end
  // A search program lets a glob with folders in it overrule git.
  const respect = { git: include?.includes('/') ?? false, gemini: true }
  return { ...end, hits: await decoded(await visibleHits(end.hits, context, top, respect), context) }
}

/** A search program knows only UTF-8, and shows other bytes as damage; what they stand for is read here. */
async function decoded(hits: readonly Hit[], { host }: ToolContext): Promise<readonly Hit[]> {
  const damaged = new Set(hits.filter(({ text: found }) => found.includes('\uFFFD')).map(({ path }) => path))
  if (damaged.size === 0) return hits
  const texts = new Map<string, readonly string[] | undefined>()
  for (const path of damaged) texts.set(path, await linesOf(host.files, path))
  return hits.map((hit) => ({ ...hit, text: texts.get(hit.path)?.[hit.line - 1] ?? hit.text }))
}

/** Without what is to be left out, in the order of paths and lines, under the names that the person knows. */
async function visibleHits(
  hits: readonly Hit[],
  { host }: ToolContext,
  top: Workspace,
  respect: Respect,
): Promise<Hit[]> {
  const hidden = new Map<string, boolean>()
  const hasRules = (await host.files.info(`${top.real}/.geminiignore`).catch(() => undefined)) !== undefined
  for (const { path } of hasRules || respect.git ? hits : []) {
    if (!hidden.has(path)) hidden.set(path, await isIgnored(host.files, top.real, path, respect))
  }
  return hits
    .filter(({ path }) => !hidden.get(path))
    .sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1))
    .map((hit) => ({ ...hit, path: byGivenName(top, hit.path) }))
}

function grouped(hits: readonly Hit[], { folders }: ToolContext): string {
  const parts: string[] = []
  let size = 0
  let last = ''
  for (const [at, { path, line, text: found }] of hits.entries()) {
    const head = path === last ? '' : `${last === '' ? '' : '---\n'}File: ${shown(path, folders)}\n`
    const part = `${head}L${line}: ${shorten(found.trimEnd())}\n`
    size += part.length
    if (size > MAX_TEXT) {
      parts.push(`---\n(${hits.length - at} more matches are left out; narrow the search.)\n`)
      break
    }
    parts.push(part)
    last = path
  }
  return `${parts.join('')}---`
}
