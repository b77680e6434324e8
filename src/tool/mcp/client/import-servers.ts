import { defined } from '../../../model/defined.ts'
import { isObject, tryParseJson } from '../../../model/json.ts'
import type { McpServerConfig } from './server-config.ts'

/** Reads settings of Gemini CLI, Claude Code, VS Code or Cursor: `mcpServers` or `servers`, also those of a project. */
export function importMcpServers(text: string, folder: string) {
  const servers: Record<string, McpServerConfig> = {}
  const json = tryParseJson(stripJsonComments(text))
  if (json === undefined) return { servers, remarks: ['The file is not valid JSON.'] }
  if (!isObject(json)) return { servers, remarks: ['The file contains no settings.'] }
  const { projects, mcp } = json
  const project = isObject(projects) ? projects[folder] : undefined
  const containers = [json, mcp, project].filter(isObject)
  const found = containers.flatMap((container) => [container['mcpServers'], container['servers']]).filter(isObject)
  const remarks: string[] = []
  for (const [name, entry] of found.flatMap((one) => Object.entries(one))) {
    if (!isObject(entry)) continue
    const server = toServerConfig(entry, folder)
    const foreign = [...new Set(collectStrings(server).flatMap((one) => one.match(FOREIGN_VARIABLE_PATTERN) ?? []))]
    if (foreign.length > 0) {
      const what = foreign.map((word) => word.replace(/^\$\{input:(.*)\}$/, 'the input “$1”')).join(', ')
      remarks.push(
        `${name} was skipped: only the program that wrote the file can replace ${what}. Write $NAME there, set that variable, and import it again.`,
      )
    } else if (server.command === undefined && server.url === undefined && server.httpUrl === undefined) {
      remarks.push(`${name} was skipped: it has neither a command nor a URL.`)
    } else Object.defineProperty(servers, name, { value: server, enumerable: true, writable: true, configurable: true })
  }
  if (found.length === 0) remarks.push('The file defines no MCP servers.')
  return { servers, remarks }
}

/** `${input:key}` is a prompt of VS Code; `${NAME:-default}` is a variable, as in our own settings. */
const FOREIGN_VARIABLE_PATTERN = /\$\{\w+:(?!-)[^}]*\}/g

function toServerConfig(entry: Record<string, unknown>, folder: string): McpServerConfig {
  const word = (key: string): string | undefined => {
    const value = entry[key]
    return typeof value === 'string' && value !== '' ? translateVariables(value, folder) : undefined
  }
  const readStringList = (key: string): string[] | undefined => {
    const value = entry[key]
    return Array.isArray(value)
      ? value.filter((one) => typeof one === 'string').map((one) => translateVariables(one, folder))
      : undefined
  }
  const readStringMap = (key: string): Record<string, string> | undefined => {
    const value = entry[key]
    if (!isObject(value)) return undefined
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, translateVariables(String(one), folder)]),
    )
  }
  const [command, ...more] = splitCommand(word('command'), entry['args'])
  const url = word('url') ?? word('serverUrl')
  const type = toTransportType(entry['type'] ?? entry['transport'])
  const { timeout } = entry
  const optional = {
    command,
    args: command === undefined ? undefined : (readStringList('args') ?? (more.length > 0 ? more : undefined)),
    env: readStringMap('env'),
    cwd: word('cwd'),
    url,
    httpUrl: word('httpUrl'),
    type: url === undefined || type === 'stdio' ? undefined : type,
    headers: readStringMap('headers'),
    timeout: typeof timeout === 'number' && timeout > 0 ? timeout : undefined,
    includeTools: readStringList('includeTools'),
    excludeTools: readStringList('excludeTools'),
    description: word('description'),
    disabled: entry['disabled'] === true || entry['enabled'] === false ? true : undefined,
  }
  // Trust is not imported: the user decides anew.
  return defined(optional)
}

/** Some files have the arguments in the command. */
function splitCommand(command: string | undefined, args: unknown): string[] {
  if (command === undefined) return []
  return Array.isArray(args) || command.startsWith('/') ? [command] : command.split(/\s+/)
}

function toTransportType(type: unknown): McpServerConfig['type'] | undefined {
  if (type === 'streamableHttp') return 'http'
  return (['stdio', 'sse', 'http', 'streamable-http'] as const).find((known) => known === type)
}

function translateVariables(text: string, folder: string): string {
  return text
    .replace(/\$\{env:([A-Za-z_]\w*)\}/g, (_, name: string) => `\${${name}}`)
    .replace(/\$\{workspaceFolder\}/g, () => folder)
    .replace(/\$\{userHome\}/g, () => '${HOME}')
}

function collectStrings(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(collectStrings) : []
}

/** Editors allow comments and trailing commas. */
export function stripJsonComments(text: string): string {
  return text
    .replace(/^\uFEFF/, '')
    .replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[^]*?\*\//g, (_, string?: string) => string ?? '')
    .replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, string?: string) => string ?? '')
}
