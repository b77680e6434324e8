import type { JsonObject } from '../../../model/json.ts'
import type { SecretTest } from '../../../policy/path/secret.ts'
import type { ToolContext } from '../../define.ts'
import { isGlob, type Matcher, nameMatcher } from '../../seek/glob.ts'
import { walkTree } from '../../seek/tree.ts'
import { flagIn, listIn, respectIn } from './input.ts'
import { DEFAULT_EXCLUDES, LEFT_OUT, MEDIA_NAMES } from './leave-out.ts'
import { absolute, byGivenName, workspaceOf } from './paths.ts'

/** Files to read, and what was asked for but is not there. */
export interface Chosen {
  /** In the order of their paths. `explicit` ones were named, not found by a pattern. */
  readonly files: readonly { readonly path: string; readonly explicit: boolean }[]
  readonly missing: readonly string[]
}

/**
 * Turns the paths, directories and globs of read_many_files into files. A file that is named is read in any case, one that
 * usually holds secrets only then: its name is what the person was asked about.
 */
export async function chooseFiles(input: JsonObject, context: ToolContext, isSecret: SecretTest): Promise<Chosen> {
  const chosen = new Map<string, boolean>()
  const missing: string[] = []
  const globs: string[] = []
  for (const path of [...listIn(input, 'paths'), ...listIn(input, 'include')]) {
    const full = absolute(path, context.folders)
    const info = await context.host.files.info(full).catch((error: unknown) => {
      missing.push(error instanceof Error ? error.message : path)
      return 'refused' as const
    })
    if (info === 'refused') continue
    if (info?.kind === 'file') chosen.set(full, true)
    else if (info?.kind === 'folder')
      await search(input, context, isSecret, full, flagIn(input, 'recursive', true) ? ['**'] : ['*'], chosen)
    else if (isGlob(path)) globs.push(path)
    else missing.push(`${path} (not found)`)
  }
  if (globs.length > 0) {
    for (const folder of context.folders) await search(input, context, isSecret, folder, globs, chosen)
  }
  const files = [...chosen].map(([path, explicit]) => ({ path, explicit }))
  return { files: files.sort((a, b) => (a.path < b.path ? -1 : 1)), missing }
}

async function search(
  input: JsonObject,
  context: ToolContext,
  isSecret: SecretTest,
  place: string,
  globs: readonly string[],
  chosen: Map<string, boolean>,
): Promise<void> {
  const { files } = context.host
  const base = await files.resolve(place)
  const top = await workspaceOf(context.host, context.folders, base)
  const relative = (glob: string): string => (glob.startsWith(`${place}/`) ? glob.slice(place.length + 1) : glob)
  const fits = globs.map((glob) => ({ glob: relative(glob), matches: anchored(relative(glob)) }))
  const excludes = [...listIn(input, 'exclude'), ...(flagIn(input, 'useDefaultExcludes', true) ? DEFAULT_EXCLUDES : [])]
  const unwanted = excludes.map((glob) => nameMatcher(relative(glob)))
  const usual = flagIn(input, 'useDefaultExcludes', true)
  // `*.png` asks for pictures; `**` does not.
  const isAsked = (name: string): boolean => {
    const extension = /\.[^./]+$/.exec(name)?.[0] ?? '/'
    return fits.some(({ glob, matches }) => glob.endsWith(extension) && matches(name))
  }
  const options = {
    folder: base,
    top: top.real,
    respect: respectIn(input),
    without: usual ? LEFT_OUT : ['.git'],
    wanted: (folder: string, last: string) => {
      const path = `${folder}/${last}`
      const name = path.slice(base.length + 1)
      if (isSecret(path, top.real) || !fits.some(({ matches }) => matches(name))) return false
      if (usual && MEDIA_NAMES.test(name) && !isAsked(name)) return false
      return !unwanted.some((matches) => matches(name))
    },
    signal: context.signal,
  }
  await walkTree(files, options, (path) => {
    const given = byGivenName(top, path)
    chosen.set(given, chosen.get(given) === true || isAsked(path.slice(base.length + 1)))
  })
}

/** A pattern without a slash means files of the folder itself, as in a shell. */
function anchored(glob: string): Matcher {
  return nameMatcher(glob.includes('/') || glob.startsWith('**') ? glob : `/${glob}`)
}
