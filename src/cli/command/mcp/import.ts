import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { readRegularFile } from '../../../host/files/regular-file.ts'
import type { McpServerConfig } from '../../../tool/mcp/client/server-config.ts'
import { importMcpServers } from '../../../tool/mcp/client/import-servers.ts'
import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { rejectExtraArgs } from '../../args/parse-command-line.ts'
import { confirm } from '../../confirm.ts'
import { expandHome } from '../../paths/folders.ts'
import { describeFileProblem } from '../../paths/project-file.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { updateMcpSettings, type McpCommandOptions } from './mcp.ts'

/** The settings files of other MCP clients, in the home folder and in a project. */
const CLIENT_CONFIG_FILES: Readonly<Record<NonNullable<McpCommandOptions['from']>, readonly string[]>> = {
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

/** `dragoman mcp import`: copies servers from another program's settings, after confirmation. */
export async function runMcpImport(positionals: readonly string[], values: McpCommandOptions): Promise<number> {
  const folder = resolveWorkFolder({})
  const files = findConfigFiles(positionals, values, folder)
  const found: Record<string, McpServerConfig> = {}
  for (const file of files) {
    const content = readRegularFile(file, { maxBytes: 64 * 2 ** 20 })
    if ('problem' in content) throw new UserError(`${file} cannot be imported: ${describeFileProblem(content)}`)
    const { servers, remarks } = importMcpServers(content.bytes.toString('utf8'), folder)
    process.stdout.write(`${escapeForTerminal(file)}: ${Object.keys(servers).length} servers\n`)
    for (const remark of remarks) process.stdout.write(`  ${escapeForTerminal(remark)}\n`)
    Object.assign(found, servers)
  }
  if (Object.keys(found).length === 0) throw new UserError('no MCP servers were found')
  for (const [name, server] of Object.entries(found))
    process.stdout.write(`  ${escapeForTerminal(describeServer(name, server))}\n`)
  if (!values.yes && !(await confirm('Import these servers?'))) {
    process.stdout.write('Nothing was imported.\n')
    return EXIT_CODE.ok
  }
  updateMcpSettings(values, (servers) => {
    const alreadyConfigured = Object.keys(found).filter((name) => Object.hasOwn(servers, name))
    if (alreadyConfigured.length > 0)
      process.stdout.write(`Already configured, left unchanged: ${alreadyConfigured.join(', ')}\n`)
    return { ...found, ...servers }
  })
  process.stdout.write('The servers were imported. Run dragoman mcp list to connect to them.\n')
  return EXIT_CODE.ok
}

function findConfigFiles(positionals: readonly string[], { from }: McpCommandOptions, folder: string): string[] {
  rejectExtraArgs('dragoman mcp import', positionals, 1)
  const [file] = positionals
  if (file !== undefined) return [file]
  const candidates = from === undefined ? Object.values(CLIENT_CONFIG_FILES).flat() : CLIENT_CONFIG_FILES[from]
  const files = candidates.map((path) => resolve(folder, expandHome(path))).filter((path) => existsSync(path))
  if (files.length === 0) throw new UserError(`no settings file was found; looked for ${candidates.join(', ')}`)
  return files
}

/** The command or URL; variables and headers are named, without their values. */
function describeServer(name: string, { command, args = [], url, httpUrl, env = {}, headers = {} }: McpServerConfig) {
  const what = command === undefined ? (httpUrl ?? url ?? '') : [command, ...args].join(' ')
  const more = [...Object.keys(env), ...Object.keys(headers)]
  return `${name}: ${what}${more.length === 0 ? '' : ` (with ${more.join(', ')})`}`
}
