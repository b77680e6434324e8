// docs/slash-commands.md, from the tables of commands and keys.
import { readFileSync } from 'node:fs'
import { inRoot } from './files.mjs'
import { code, table } from './table.mjs'

/** The page about slash commands and keys. */
export function terminalPage({ SLASH_COMMANDS, KEY_GROUPS, APPROVAL_MODES }) {
  const commands = SLASH_COMMANDS.map(({ name, takes, about, aliases = [] }) => [
    code(`/${name}${takes === undefined ? '' : ` ${takes}`}`),
    about,
    aliases.map((alias) => code(`/${alias}`)).join(', '),
  ])
  const modes = Object.entries(APPROVAL_MODES).map(([name, about]) => [code(name), about])
  const keys = KEY_GROUPS.map((group) => `### ${group.title}\n\n${table(['keys', 'what they do'], group.keys)}`)
  return readFileSync(inRoot('scripts/lib/terminal-page.md'), 'utf8')
    .replace('{{commands}}', () => table(['command', 'what it does', 'also'], commands))
    .replace('{{modes}}', () => table(['mode', 'what it does'], modes))
    .replace('{{keys}}', () => keys.join('\n\n'))
}
