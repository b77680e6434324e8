import type { FolderEntry } from '../../host/host.ts'
import type { Tool, ToolContext } from '../tool.ts'
import { createGlobNameMatcher } from '../file-search/glob.ts'
import { loadIgnoreRules } from '../file-search/ignore-rules.ts'
import { removeIgnoredEntries } from '../file-search/walk-files.ts'
import { quoteFileNames } from '../text/escape-file-names.ts'
import text from './list-directory.md'
import { defineBuiltin, createSameToolAliases, createSimilarToolAliases } from './support/define-builtin.ts'
import { FILTER_OPTIONS_SCHEMA, getIgnoreOptions } from './support/read-arguments.ts'
import { getStringListArgument, getTextArgument } from './support/read-arguments.ts'
import { toAbsolutePath, createPathEffects, findWorkspaceFolder } from './support/paths.ts'

export const listDirectoryTool: Tool = defineBuiltin({
  name: 'list_directory',
  text,
  kind: 'search',
  hookName: 'LS',
  verb: 'List',
  safeToRetry: true,
  aliases: { dir_path: 'path' },
  ruleAliases: ['LSTool'],
  nameAliases: [
    ...createSameToolAliases('LS', 'ReadFolder', 'list', 'ls'),
    ...createSimilarToolAliases('list_dir', 'list_files'),
  ],
  properties: {
    path: { type: 'string', description: 'Absolute path of the directory.' },
    ignore: { type: 'array', items: { type: 'string' }, description: 'Globs of names to leave out.' },
    file_filtering_options: FILTER_OPTIONS_SCHEMA,
  },
  required: ['path'],
  ruleInput: (path) => ({ path }),
  effects: (input, folders) => createPathEffects('read', toAbsolutePath(getTextArgument(input, 'path'), folders)),
  check: (input) => (getTextArgument(input, 'path').trim() === '' ? 'path must not be empty.' : undefined),

  async run(input, context) {
    const { files } = context.host
    const path = toAbsolutePath(getTextArgument(input, 'path'), context.folders)
    const all = await files.list(path)
    const real = await files.resolve(path)
    const top = await findWorkspaceFolder(context.host, context.folders, real)
    const rules = await loadIgnoreRules(files, top.realPath, real, getIgnoreOptions(input), all)
    const excluded = getStringListArgument(input, 'ignore').map((glob) => createGlobNameMatcher(glob))
    const remaining = excluded.length === 0 ? all : all.filter(({ name }) => !excluded.some((matches) => matches(name)))
    const entries = removeIgnoredEntries(rules, real, remaining)
    const ignored = remaining.length - entries.length
    const count = ignored > 0 ? `\n\n(${ignored} ignored)` : ''
    if (entries.length === 0) return { content: `Directory ${path} is empty.${count}`, display: 'Directory is empty.' }

    const lines = await formatEntries(entries, path, context)
    const more = lines.length > MAX_LINES ? `\n... and ${lines.length - MAX_LINES} more` : ''
    return {
      content: `Directory listing for ${path}: \n${lines.slice(0, MAX_LINES).join('\n')}${more}${count}`,
      display: `Listed ${entries.length} item(s).${ignored > 0 ? ` (${ignored} ignored)` : ''}`,
    }
  },
})

const MAX_LINES = 5000

/** Directories first, each group by name. A link counts as its target, if that exists. */
async function formatEntries(entries: readonly FolderEntry[], path: string, { host }: ToolContext): Promise<string[]> {
  const links = entries.filter(({ kind }) => kind === 'link')
  const targets = await Promise.all(links.map(({ name }) => host.files.info(`${path}/${name}`).catch(() => undefined)))
  const folders = new Set(links.filter((_, at) => targets[at]?.kind === 'folder').map(({ name }) => name))
  const [first, last]: [string[], string[]] = [[], []]
  for (const { name, kind } of entries) (kind === 'folder' || folders.has(name) ? first : last).push(name)
  return quoteFileNames(first.sort())
    .map((name) => `[DIR] ${name}`)
    .concat(quoteFileNames(last.sort()))
}
