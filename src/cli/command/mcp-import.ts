import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { readOrdinaryFile } from '../../host/ordinary-file.ts'
import type { McpServerConfig } from '../../tool/mcp/config.ts'
import { importServers } from '../../tool/mcp/import.ts'
import { workFolder } from '../setup/assemble.ts'
import { Complaint, EXIT } from '../exit.ts'
import { visible } from '../output/visible.ts'
import { changeServers, type McpValues } from './mcp.ts'

/** Where each program keeps its servers: in the person's home, and in a project. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  gemini: ['~/.gemini/settings.json', '.gemini/settings.json'],
  claude: ['~/.claude.json', '.mcp.json'],
  vscode: [
    '~/.config/Code/User/mcp.json',
    '~/.config/Code/User/settings.json',
    '~/Library/Application Support/Code/User/mcp.json',
    '.vscode/mcp.json',
  ],
  cursor: ['~/.cursor/mcp.json', '.cursor/mcp.json'],
}

/** `dragoman mcp import`: takes over servers from another program's file, on the person's word. */
export async function importCommand(words: readonly string[], values: McpValues): Promise<number> {
  const folder = workFolder({})
  const files = filesFor(words, values, folder)
  const found: Record<string, McpServerConfig> = {}
  for (const file of files) {
    const content = readOrdinaryFile(file, { maxBytes: 64 * 2 ** 20 })
    if ('problem' in content) throw new Complaint(`${file} cannot be read, or is no ordinary file`)
    const { servers, remarks } = importServers(content.bytes.toString('utf8'), folder)
    process.stdout.write(`${visible(file)}: ${Object.keys(servers).length} servers\n`)
    for (const remark of remarks) process.stdout.write(`  ${visible(remark)}\n`)
    Object.assign(found, servers)
  }
  if (Object.keys(found).length === 0) throw new Complaint('no server was found')
  for (const [name, server] of Object.entries(found)) process.stdout.write(`  ${visible(described(name, server))}\n`)
  if (!values.yes && !(await agreed())) {
    process.stdout.write('Nothing was taken over.\n')
    return EXIT.ok
  }
  changeServers(values, (servers) => {
    const kept = Object.keys(found).filter((name) => Object.hasOwn(servers, name))
    if (kept.length > 0)
      process.stdout.write(`These are in the settings already, and stay as they are: ${kept.join(', ')}\n`)
    return { ...found, ...servers }
  })
  process.stdout.write('They are in the settings; dragoman mcp list connects to them.\n')
  return EXIT.ok
}

function filesFor(words: readonly string[], { from }: McpValues, folder: string): string[] {
  const [file, ...more] = words
  if (more.length > 0) throw new Complaint(`dragoman mcp import takes one file, not “${words.join(' ')}”`)
  if (file !== undefined) {
    if (!existsSync(file)) throw new Complaint(`there is no file ${file}`)
    return [file]
  }
  const places = from === undefined ? Object.values(FILES).flat() : (FILES[from] ?? [])
  const paths = places.map((path) => (path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(folder, path)))
  const there = paths.filter((path) => existsSync(path))
  if (there.length === 0) throw new Complaint(`there is none of ${places.join(', ')}`)
  return there
}

/** What would run or be reached; variables are named, never their values. */
function described(
  name: string,
  { command, args = [], url, httpUrl, env = {}, headers = {} }: McpServerConfig,
): string {
  const what = command === undefined ? (httpUrl ?? url ?? '') : [command, ...args].join(' ')
  const more = [...Object.keys(env), ...Object.keys(headers)]
  return `${name}: ${what}${more.length === 0 ? '' : ` (with ${more.join(', ')})`}`
}

async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Complaint('nobody is there to say yes; --yes takes them over without asking')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y/i.test((await lines.question('Take them over? [y/N] ')).trim())
  } finally {
    lines.close()
  }
}
