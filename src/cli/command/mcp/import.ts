import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { readRegularFile } from '../../../host/files/regular-file.ts'
import type { McpServerConfig } from '../../../tool/mcp/server/server-config.ts'
import { importMcpServers } from '../../../tool/mcp/server/import-servers.ts'
import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { updateMcpSettings, type McpCommandOptions } from './mcp.ts'

/** Where each program keeps its servers: in the person's home, and in a project. */
const CLIENT_CONFIG_FILES: Readonly<Record<string, readonly string[]>> = {
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
export async function runMcpImport(positionals: readonly string[], values: McpCommandOptions): Promise<number> {
  const folder = resolveWorkFolder({})
  const files = findConfigFiles(positionals, values, folder)
  const found: Record<string, McpServerConfig> = {}
  for (const file of files) {
    const content = readRegularFile(file, { maxBytes: 64 * 2 ** 20 })
    if ('problem' in content) throw new UserError(`${file} cannot be read, or is no ordinary file`)
    const { servers, remarks } = importMcpServers(content.bytes.toString('utf8'), folder)
    process.stdout.write(`${escapeForTerminal(file)}: ${Object.keys(servers).length} servers\n`)
    for (const remark of remarks) process.stdout.write(`  ${escapeForTerminal(remark)}\n`)
    Object.assign(found, servers)
  }
  if (Object.keys(found).length === 0) throw new UserError('no server was found')
  for (const [name, server] of Object.entries(found))
    process.stdout.write(`  ${escapeForTerminal(describeServer(name, server))}\n`)
  if (!values.yes && !(await confirmImport())) {
    process.stdout.write('Nothing was taken over.\n')
    return EXIT_CODE.ok
  }
  updateMcpSettings(values, (servers) => {
    const alreadyConfigured = Object.keys(found).filter((name) => Object.hasOwn(servers, name))
    if (alreadyConfigured.length > 0)
      process.stdout.write(`These are in the settings already, and stay as they are: ${alreadyConfigured.join(', ')}\n`)
    return { ...found, ...servers }
  })
  process.stdout.write('They are in the settings; dragoman mcp list connects to them.\n')
  return EXIT_CODE.ok
}

function findConfigFiles(positionals: readonly string[], { from }: McpCommandOptions, folder: string): string[] {
  const [file, ...more] = positionals
  if (more.length > 0) throw new UserError(`dragoman mcp import takes one file, not “${positionals.join(' ')}”`)
  if (file !== undefined) {
    if (!existsSync(file)) throw new UserError(`there is no file ${file}`)
    return [file]
  }
  const candidatePaths =
    from === undefined ? Object.values(CLIENT_CONFIG_FILES).flat() : (CLIENT_CONFIG_FILES[from] ?? [])
  const paths = candidatePaths.map((path) =>
    path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(folder, path),
  )
  const existingFiles = paths.filter((path) => existsSync(path))
  if (existingFiles.length === 0) throw new UserError(`there is none of ${candidatePaths.join(', ')}`)
  return existingFiles
}

/** What would run or be reached; variables are named, never their values. */
function describeServer(
  name: string,
  { command, args = [], url, httpUrl, env = {}, headers = {} }: McpServerConfig,
): string {
  const what = command === undefined ? (httpUrl ?? url ?? '') : [command, ...args].join(' ')
  const more = [...Object.keys(env), ...Object.keys(headers)]
  return `${name}: ${what}${more.length === 0 ? '' : ` (with ${more.join(', ')})`}`
}

async function confirmImport(): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UserError('nobody is there to say yes; --yes takes them over without asking')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y/i.test((await lines.question('Take them over? [y/N] ')).trim())
  } finally {
    lines.close()
  }
}
