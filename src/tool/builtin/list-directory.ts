import type { FolderEntry } from '../../host/host.ts'
import type { Tool, ToolContext } from '../define.ts'
import { nameMatcher } from '../seek/glob.ts'
import { rulesFor } from '../seek/ignore-rules.ts'
import { visible } from '../seek/tree.ts'
import { quoteName } from '../text/escape.ts'
import text from './list-directory.md'
import { builtin } from './support/builtin.ts'
import { listIn, respectIn, textIn } from './support/input.ts'
import { absolute, touching, workspaceOf } from './support/paths.ts'
import { FILTERING } from './support/schema.ts'

/** Lists one directory. */
export const listDirectory: Tool = builtin({
  name: 'list_directory',
  text,
  kind: 'search',
  verb: 'List',
  aliases: { dir_path: 'path' },
  nameAliases: [
    { name: 'LS', parameters: {} },
    { name: 'ReadFolder', parameters: {} },
    { name: 'list', parameters: {} },
    { name: 'ls', parameters: {} },
    { name: 'list_dir' },
    { name: 'list_files' },
  ],
  properties: {
    path: { type: 'string', description: 'Absolute path of the directory.' },
    ignore: { type: 'array', items: { type: 'string' }, description: 'Globs of names to leave out.' },
    file_filtering_options: FILTERING,
  },
  required: ['path'],
  effects: (input, folders) => touching('read', absolute(textIn(input, 'path'), folders)),
  check: (input) => (textIn(input, 'path').trim() === '' ? 'path must not be empty.' : undefined),

  async run(input, context) {
    const { files } = context.host
    const path = absolute(textIn(input, 'path'), context.folders)
    const all = await files.list(path)
    const real = await files.resolve(path)
    const top = await workspaceOf(context.host, context.folders, real)
    const rules = await rulesFor(files, top.real, real, respectIn(input), all)
    const unwanted = listIn(input, 'ignore').map((glob) => nameMatcher(glob))
    const named = unwanted.length === 0 ? all : all.filter(({ name }) => !unwanted.some((matches) => matches(name)))
    const entries = visible(rules, real, named)
    const ignored = named.length - entries.length
    const count = ignored > 0 ? `\n\n(${ignored} ignored)` : ''
    if (entries.length === 0) return { content: `Directory ${path} is empty.${count}`, display: 'Directory is empty.' }

    const lines = await linesOf(entries, path, context)
    const more = lines.length > MAX_LINES ? `\n... and ${lines.length - MAX_LINES} more` : ''
    return {
      content: `Directory listing for ${path}: \n${lines.slice(0, MAX_LINES).join('\n')}${more}${count}`,
      display: `Listed ${entries.length} item(s).${ignored > 0 ? ` (${ignored} ignored)` : ''}`,
    }
  },
})

const MAX_LINES = 5000

/** Directories first, each by name. A link counts as what it leads to, if it leads anywhere. */
async function linesOf(entries: readonly FolderEntry[], path: string, { host }: ToolContext): Promise<string[]> {
  const links = entries.filter(({ kind }) => kind === 'link')
  const targets = await Promise.all(links.map(({ name }) => host.files.info(`${path}/${name}`).catch(() => undefined)))
  const folders = new Set(links.filter((_, at) => targets[at]?.kind === 'folder').map(({ name }) => name))
  const [first, last]: [string[], string[]] = [[], []]
  for (const { name, kind } of entries) (kind === 'folder' || folders.has(name) ? first : last).push(name)
  return [...first.sort().map((name) => `[DIR] ${quoteName(name)}`), ...last.sort().map(quoteName)]
}
