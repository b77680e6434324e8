import type { JsonObject } from '../../model/json.ts'
import type { Tool, ToolContext } from '../tool.ts'
import { createFileMatcher, getGlobBaseFolder, findGlobProblem } from '../file-search/glob.ts'
import { walkFiles } from '../file-search/walk-files.ts'
import { quoteFileNames } from '../text/escape-file-names.ts'
import text from './glob.md'
import { createErrorOutput } from '../error-output.ts'
import { defineBuiltin, createSameToolAliases, createSimilarToolAliases } from './support/define-builtin.ts'
import { getFlagArgument, getIgnoreOptions, getTextArgument } from './support/read-arguments.ts'
import { EXCLUDED_FOLDERS } from './support/excludes.ts'
import { toGivenPath, createPathEffects, findWorkspaceFolder, resolveSearchRoots } from './support/paths.ts'

export const globTool: Tool = defineBuiltin({
  name: 'glob',
  text,
  kind: 'search',
  hookName: 'Glob',
  verb: 'Look for files in',
  safeToRetry: true,
  aliases: { dir_path: 'path' },
  ruleAliases: ['Glob', 'GlobTool'],
  nameAliases: [...createSameToolAliases('FindFiles'), ...createSimilarToolAliases('file_search', 'find_files')],
  properties: {
    pattern: { type: 'string', description: 'The glob.' },
    path: { type: 'string', description: 'Directory to search in; all of the workspace without it.' },
    case_sensitive: { type: 'boolean', description: 'Default false.' },
    respect_git_ignore: { type: 'boolean', description: 'Default true.' },
  },
  required: ['pattern'],
  ruleInput: (path) => ({ path }),
  effects: (input, folders) => resolveSearchRoots(input, folders).flatMap((path) => createPathEffects('read', path)),
  check: (input) => findGlobProblem(getTextArgument(input, 'pattern')),

  async run(input, context) {
    const pattern = getTextArgument(input, 'pattern')
    const found: FoundFiles = { paths: [], times: [] }
    let ignored = 0
    const roots = resolveSearchRoots(input, context.folders)
    for (const root of roots) {
      const info = await context.host.files.info(root)
      if (info?.kind !== 'folder') {
        return createErrorOutput(`Not a directory: ${root}`, info ? 'path-is-not-a-directory' : 'file-not-found')
      }
      ignored += await collectMatches(input, context, root, found)
    }
    const rootList = roots.join(', ')
    const count = ignored > 0 ? `\n\n(${ignored} ignored)` : ''
    if (found.paths.length === 0) {
      const none = `No files found matching '${pattern}' within ${rootList}.`
      return { content: `${none}${count}`, display: 'No files found' }
    }
    const more =
      found.paths.length > MAX_PATHS
        ? `\n... and ${found.paths.length - MAX_PATHS} older files; narrow the pattern`
        : ''
    const list = `${quoteFileNames(pickNewest(found)).join('\n')}${more}${count}`
    return {
      content: `Found ${found.paths.length} file(s) matching '${pattern}' within ${rootList}: \n${list}`,
      display: `Found ${found.paths.length} matching file(s)`,
    }
  },
})

const MAX_PATHS = 2000

/** Two lists instead of one list of objects: there may be very many files. */
interface FoundFiles {
  readonly paths: string[]
  readonly times: number[]
}

/** The newest paths first. Only those that are shown are sorted. */
function pickNewest({ paths, times }: FoundFiles): string[] {
  const oldest = new Float64Array(times).sort().at(-MAX_PATHS) ?? Number.NEGATIVE_INFINITY
  const newest: { readonly path: string; readonly time: number }[] = []
  for (const [at, path] of paths.entries()) {
    const time = times[at] ?? 0
    if (time >= oldest) newest.push({ path, time })
  }
  newest.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1))
  return newest.slice(0, MAX_PATHS).map(({ path }) => path)
}

/** Adds the matching files below a folder; returns how many matches are ignored. */
async function collectMatches(
  input: JsonObject,
  context: ToolContext,
  root: string,
  found: FoundFiles,
): Promise<number> {
  const { files } = context.host
  const base = await files.resolve(root)
  const top = await findWorkspaceFolder(context.host, context.folders, base)
  const pattern = relativizePattern(getTextArgument(input, 'pattern'), [root, base])
  const add = (path: string, time: number): void => {
    found.paths.push(toGivenPath(top, path))
    found.times.push(time)
  }
  // A file name may look like a pattern; if such a file exists, it is meant.
  const literal = `${base}/${pattern}`
  const literalInfo = await files.info(literal).catch(() => undefined)
  if (literalInfo?.kind === 'file') {
    add(literal, literalInfo.modifiedAt)
    return 0
  }
  const fixed = getGlobBaseFolder(pattern)
  const folder = fixed === '' ? base : `${base}/${fixed}`
  const start = await files.resolve(folder)
  // Below a link the paths would not match the pattern.
  if (start !== folder || (await files.info(folder).catch(() => undefined))?.kind !== 'folder') return 0
  const matches = createFileMatcher(pattern, getFlagArgument(input, 'case_sensitive', false), base.length + 1)
  const patternSegments = pattern.split('/')
  return walkFiles(
    files,
    {
      folder,
      top: top.realPath,
      ignoreOptions: getIgnoreOptions(input, input),
      excludedFolders: EXCLUDED_FOLDERS.filter((name) => !patternSegments.includes(name)),
      isWanted: matches,
      signal: context.signal,
    },
    (path, view, name) => add(path, view.modifiedAt(name)),
  )
}

/** The pattern relative to the search root, even if it was written as an absolute path. */
function relativizePattern(pattern: string, roots: readonly string[]): string {
  const root = roots.find((one) => pattern.startsWith(`${one}/`))
  return (root === undefined ? pattern : pattern.slice(root.length + 1)).replace(/^(?:\.\/)+/, '')
}
