import { join } from 'node:path'
import { defined } from '../../../../model/defined.ts'
import { isObject, nonBlankString, objectOrEmpty, stringOrEmpty } from '../../../../model/json.ts'
import { SHELL_TOOL_NAME } from '../../../../policy/rules/rule.ts'
import type { McpServerConfig } from '../../../../tool/mcp/client/server-config.ts'
import { getConfigFolder } from '../../../paths/folders.ts'
import {
  addServer,
  nameUnusedKeys,
  readJson,
  stringList,
  type MutableSettings,
  type OpenSettingsFile,
  type SettingsSource,
} from './agent-settings.ts'

const readConfig = readJson((json, file, found) => {
  for (const [name, entry] of Object.entries(objectOrEmpty(json['mcp'])))
    addServer(name, isObject(entry) ? toServer(entry) : undefined, file.path, found)
  const model = stringOrEmpty(json['model'])
  if (/^[\w-]+\/./.test(model)) found.config.model ??= model
  for (const [tool, value] of Object.entries(objectOrEmpty(json['permission'])))
    readPermission(file, tool, value, found)
  for (const [name, entry] of Object.entries(objectOrEmpty(json['command']))) addCommand(file.path, name, entry, found)
  nameUnusedKeys(file.path, json, USED_KEYS, found)
})

/** opencode: `opencode.json` of the user and of the project, and commands. */
export const OPENCODE_SETTINGS: SettingsSource = {
  title: 'opencode',
  files: [
    ...['opencode.json', 'opencode.jsonc', 'config.json'].map((name) => ({
      path: `.config/opencode/${name}`,
      isOfProject: false,
      read: readConfig,
    })),
    ...['opencode.json', 'opencode.jsonc', '.opencode/opencode.json'].map((path) => ({
      path,
      isOfProject: true,
      read: readConfig,
    })),
  ],
  commands: ['.config/opencode/command', '.config/opencode/commands'],
  inPlace: {},
  unsupported: {
    '.config/opencode/AGENTS.md': 'copy it to the AGENTS.md beside your settings of Dragoman',
    ...Object.fromEntries(
      ['agent', 'agents', 'plugin', 'plugins', 'skill', 'skills'].map((name) => [`.config/opencode/${name}`, '']),
    ),
  },
}

const USED_KEYS = ['mcp', 'model', 'permission', 'command']

function toServer(entry: Readonly<Record<string, unknown>>): McpServerConfig | undefined {
  const [command, ...args] = stringList(entry['command'])
  const url = nonBlankString(entry['url'])
  if (command === undefined && url === undefined) return undefined
  const variables = (value: unknown) =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, one]) => [key, String(one).replaceAll(/\{env:(\w+)\}/g, '$${$1}')]),
        )
      : undefined
  return defined({
    command,
    args: command === undefined ? undefined : args,
    env: variables(entry['environment']),
    httpUrl: command === undefined ? url : undefined,
    headers: variables(entry['headers']),
    disabled: entry['enabled'] === false ? true : undefined,
  })
}

/** What its tools are called in rules here. */
const TOOLS: Readonly<Record<string, readonly string[]>> = {
  edit: ['replace', 'smart_edit', 'write_file'],
  bash: [SHELL_TOOL_NAME],
  webfetch: ['web_fetch'],
  websearch: ['google_web_search'],
  read: ['read_file', 'read_many_files'],
}

function readPermission(
  { path, isOfProject }: OpenSettingsFile,
  tool: string,
  value: unknown,
  found: MutableSettings,
): void {
  const tools = Object.hasOwn(TOOLS, tool) ? (TOOLS[tool] ?? []) : []
  const pairs = isObject(value) ? Object.entries(value) : [['*', value] as const]
  const hasOthers = pairs.length > 1
  for (const [pattern, verdict] of pairs) {
    const isVerdict = verdict === 'allow' || verdict === 'ask' || verdict === 'deny'
    // There the last pattern that fits decides; here a denial of everything would outweigh the others.
    if (!isVerdict || tools.length === 0 || (pattern === '*' && verdict === 'deny' && hasOthers))
      found.unsupported.push(`${path}: the permission ${tool} ${pattern}: ${stringOrEmpty(verdict)}`)
    else if (!(pattern === '*' && verdict === 'ask' && hasOthers))
      for (const name of tools)
        found.rules.push({
          verdict,
          text: pattern === '*' ? name : `${name}(${pattern})`,
          isOfProject,
        })
  }
}

/** A command in the settings becomes a file. */
function addCommand(path: string, name: string, entry: unknown, found: MutableSettings): void {
  const { template, description } = objectOrEmpty(entry)
  if (typeof template !== 'string' || !/^[\w.-]+$/.test(name))
    return void found.unsupported.push(`${path}: the command ${name}`)
  const head = typeof description === 'string' ? `---\ndescription: ${JSON.stringify(description)}\n---\n` : ''
  found.copies.push({
    from: `${path}, command ${name}`,
    to: join(getConfigFolder(), 'commands', `${name}.md`),
    text: `${head}${template}\n`,
  })
}
