import type { JsonObject } from '../../../model/json.ts'
import type { SecretFileTest } from '../../../policy/path/secret-file-test.ts'
import type { ToolContext } from '../../tool.ts'
import { isGlob, type PathMatcher, createGlobNameMatcher } from '../../file-search/glob.ts'
import { walkFiles } from '../../file-search/walk-files.ts'
import { getFlagArgument, getStringListArgument, getIgnoreOptions } from './read-arguments.ts'
import { DEFAULT_EXCLUDES, EXCLUDED_FOLDERS, MEDIA_FILE_PATTERN } from './excludes.ts'
import { toAbsolutePath, toGivenPath, findWorkspaceFolder } from './paths.ts'

/** Turns paths, directories and globs into files. Files with secrets must be named: that needs approval. */
export async function chooseFiles(input: JsonObject, context: ToolContext, isSecret: SecretFileTest) {
  const chosen = new Map<string, boolean>()
  const missing: string[] = []
  const globs: string[] = []
  for (const path of [...getStringListArgument(input, 'paths'), ...getStringListArgument(input, 'include')]) {
    const full = toAbsolutePath(path, context.folders)
    const info = await context.host.files.info(full).catch((error: unknown) => {
      missing.push(error instanceof Error ? error.message : path)
      return 'refused' as const
    })
    if (info === 'refused') continue
    if (info?.kind === 'file') chosen.set(full, true)
    else if (info?.kind === 'folder') {
      const glob = getFlagArgument(input, 'recursive', true) ? '**' : '*'
      await searchFolder(input, context, isSecret, full, [glob], chosen)
    } else if (isGlob(path)) globs.push(path)
    else missing.push(`${path} (not found)`)
  }
  if (globs.length > 0) {
    for (const folder of context.folders) await searchFolder(input, context, isSecret, folder, globs, chosen)
  }
  // `explicit` ones were named, not found by a pattern.
  const files = [...chosen].map(([path, explicit]) => ({ path, explicit }))
  return { files: files.sort((a, b) => (a.path < b.path ? -1 : 1)), missing }
}

async function searchFolder(
  input: JsonObject,
  context: ToolContext,
  isSecret: SecretFileTest,
  root: string,
  globs: readonly string[],
  chosen: Map<string, boolean>,
): Promise<void> {
  const { files } = context.host
  const base = await files.resolve(root)
  const top = await findWorkspaceFolder(context.host, context.folders, base)
  const relative = (glob: string): string => (glob.startsWith(`${root}/`) ? glob.slice(root.length + 1) : glob)
  const includes = globs.map((glob) => ({ glob: relative(glob), matches: createAnchoredMatcher(relative(glob)) }))
  const useDefaultExcludes = getFlagArgument(input, 'useDefaultExcludes', true)
  const excludes = [...getStringListArgument(input, 'exclude'), ...(useDefaultExcludes ? DEFAULT_EXCLUDES : [])]
  const excluded = excludes.map((glob) => createGlobNameMatcher(relative(glob)))
  // `*.png` asks for images; `**` does not.
  const isExplicit = (name: string): boolean => {
    const extension = /\.[^./]+$/.exec(name)?.[0] ?? '/'
    return includes.some(({ glob, matches }) => glob.endsWith(extension) && matches(name))
  }
  const options = {
    folder: base,
    top: top.realPath,
    ignoreOptions: getIgnoreOptions(input),
    excludedFolders: useDefaultExcludes ? EXCLUDED_FOLDERS : ['.git'],
    isWanted: (folder: string, last: string) => {
      const path = `${folder}/${last}`
      const name = path.slice(base.length + 1)
      if (isSecret(path, top.realPath) || !includes.some(({ matches }) => matches(name))) return false
      if (useDefaultExcludes && MEDIA_FILE_PATTERN.test(name) && !isExplicit(name)) return false
      return !excluded.some((matches) => matches(name))
    },
    signal: context.signal,
  }
  await walkFiles(files, options, (path) => {
    const givenPath = toGivenPath(top, path)
    chosen.set(givenPath, chosen.get(givenPath) === true || isExplicit(path.slice(base.length + 1)))
  })
}

/** A pattern without a slash means files of the folder itself, as in a shell. */
function createAnchoredMatcher(glob: string): PathMatcher {
  return createGlobNameMatcher(glob.includes('/') || glob.startsWith('**') ? glob : `/${glob}`)
}
