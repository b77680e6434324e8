import { writeFileSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { isWireId } from '../../../wire/wires.ts'
import { exportSessionText } from '../../command/sessions/export.ts'
import { abbreviateHome, expandHome } from '../../paths/folders.ts'
import { stripQuotes } from '../mention/mentions.ts'
import type { AppParts } from '../app-parts.ts'

/** `/export [name]`: writes this session to a new file; its extension decides the format. */
export async function exportCurrentSession({ ui, folder, session }: AppParts, words: string): Promise<void> {
  const { id, entries } = session.agent.session
  const exportTarget = parseExportTarget(stripQuotes(words), id)
  if (exportTarget === undefined)
    return ui.notify('Use a name that ends in .md or .json, for example /export session.md', 'warn')
  const text = await exportSessionText(entries, exportTarget.format)
  for (const name of exportTarget.names) {
    const path = resolve(folder, expandHome(name))
    const problem = writeNewFile(path, text)
    if (problem === undefined) return ui.notify(`Session written to ${abbreviateHome(path)}`)
    if (problem !== 'EEXIST') return ui.notify(`${abbreviateHome(path)} cannot be written: ${problem}`, 'bad')
  }
  ui.notify(`${exportTarget.names[0]} already exists. Use another name: /export other.md`, 'warn')
}

/** The format, and the names to try: the one that the user gave, or numbered ones. */
function parseExportTarget(words: string, id: string): { format: string; names: readonly string[] } | undefined {
  const ending = extname(words).toLowerCase()
  if (ending === '.md') return { format: 'markdown', names: [words] }
  if (ending === '.json') return { format: 'json', names: [words] }
  const format = words === '' ? 'markdown' : words
  if (format !== 'markdown' && format !== 'json' && !isWireId(format)) return undefined
  const baseName = `session-${id}${format === 'markdown' || format === 'json' ? '' : `-${format}`}`
  const end = format === 'markdown' ? 'md' : 'json'
  return {
    format,
    names: Array.from({ length: 99 }, (_unused, at) => `${baseName}${at === 0 ? '' : `-${at + 1}`}.${end}`),
  }
}

/** Only the owner can read the file: a session may contain private data. */
function writeNewFile(path: string, text: string): string | undefined {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
    return undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'EEXIST' ? code : message
  }
}
