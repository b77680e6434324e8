import type { JsonObject } from '../../model/json.ts'
import type { Tool, ToolContext } from '../define.ts'
import { fileMatcher, fixedFolder, globProblem } from '../seek/glob.ts'
import { walkTree } from '../seek/tree.ts'
import { quoteName } from '../text/escape.ts'
import text from './glob.md'
import { builtin, failure } from './support/builtin.ts'
import { flagIn, someTextIn, textIn } from './support/input.ts'
import { LEFT_OUT } from './support/leave-out.ts'
import { absolute, byGivenName, touching, workspaceOf } from './support/paths.ts'

/** Finds files by their names. */
export const glob: Tool = builtin({
  name: 'glob',
  text,
  kind: 'search',
  verb: 'Look for files in',
  aliases: { dir_path: 'path' },
  nameAliases: [{ name: 'FindFiles', parameters: {} }, { name: 'file_search' }, { name: 'find_files' }],
  properties: {
    pattern: { type: 'string', description: 'The glob.' },
    path: { type: 'string', description: 'Directory to search in; all of the workspace without it.' },
    case_sensitive: { type: 'boolean', description: 'Default false.' },
    respect_git_ignore: { type: 'boolean', description: 'Default true.' },
  },
  required: ['pattern'],
  effects: (input, folders) => starts(input, folders).flatMap((path) => touching('read', path)),
  check: (input) => globProblem(textIn(input, 'pattern')),

  async run(input, context) {
    const pattern = textIn(input, 'pattern')
    const found: Found = { paths: [], times: [] }
    let ignored = 0
    const places = starts(input, context.folders)
    for (const place of places) {
      const info = await context.host.files.info(place)
      if (info?.kind !== 'folder') {
        return failure(`Not a directory: ${place}`, info ? 'path-is-not-a-directory' : 'file-not-found')
      }
      ignored += await find(input, context, place, found)
    }
    const where = places.join(', ')
    const count = ignored > 0 ? `\n\n(${ignored} ignored)` : ''
    if (found.paths.length === 0) {
      const none = `No files found matching '${pattern}' within ${where}.`
      return { content: `${none}${count}`, display: 'No files found' }
    }
    const more =
      found.paths.length > MAX_PATHS ? `\n... and ${found.paths.length - MAX_PATHS} older ones; narrow the pattern` : ''
    const list = `${newest(found).map(quoteName).join('\n')}${more}${count}`
    return {
      content: `Found ${found.paths.length} file(s) matching '${pattern}' within ${where}: \n${list}`,
      display: `Found ${found.paths.length} matching file(s)`,
    }
  },
})

const MAX_PATHS = 2000

/** The files that were found, and when each was changed; there may be very many. */
interface Found {
  readonly paths: string[]
  readonly times: number[]
}

/** The paths to show, the newest first. Of very many only those are put in order that are shown. */
function newest({ paths, times }: Found): string[] {
  const oldest = new Float64Array(times).sort().at(-MAX_PATHS) ?? Number.NEGATIVE_INFINITY
  return paths
    .map((path, at) => ({ path, time: times[at] ?? 0 }))
    .filter(({ time }) => time >= oldest)
    .sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1))
    .slice(0, MAX_PATHS)
    .map(({ path }) => path)
}

function starts(input: JsonObject, folders: readonly string[]): string[] {
  const path = someTextIn(input, 'path')
  return path === undefined ? [...folders] : [absolute(path, folders)]
}

/** Collects the files below a place that fit; gives how many that fit are ignored. */
async function find(input: JsonObject, context: ToolContext, place: string, found: Found): Promise<number> {
  const { files } = context.host
  const respect = {
    git: flagIn(input, 'respect_git_ignore', true),
    gemini: flagIn(input, 'respect_gemini_ignore', true),
  }
  const base = await files.resolve(place)
  const top = await workspaceOf(context.host, context.folders, base)
  const pattern = within(textIn(input, 'pattern'), [place, base])
  const add = (path: string, time: number): void => {
    found.paths.push(byGivenName(top, path))
    found.times.push(time)
  }
  // A name may look like a pattern; if there is such a file, it is meant.
  const literal = `${base}/${pattern}`
  const named = await files.info(literal).catch(() => undefined)
  if (named?.kind === 'file') {
    add(literal, named.changed)
    return 0
  }
  const fixed = fixedFolder(pattern)
  const folder = fixed === '' ? base : `${base}/${fixed}`
  const start = await files.resolve(folder)
  // Below a link the names would not be those that the pattern speaks of.
  if (start !== folder || (await files.info(folder).catch(() => undefined))?.kind !== 'folder') return 0
  const matches = fileMatcher(pattern, flagIn(input, 'case_sensitive', false))
  const asked = pattern.split('/')
  return walkTree(
    files,
    {
      folder,
      top: top.real,
      respect,
      without: LEFT_OUT.filter((name) => !asked.includes(name)),
      wanted: (path, name) => matches(path.slice(base.length + 1), name),
      signal: context.signal,
    },
    (path, view, name) => add(path, view.changed(name)),
  )
}

/** The pattern from the place where the search begins, also if it was written from somewhere above. */
function within(pattern: string, places: readonly string[]): string {
  const place = places.find((one) => pattern.startsWith(`${one}/`))
  return (place === undefined ? pattern : pattern.slice(place.length + 1)).replace(/^(?:\.\/)+/, '')
}
