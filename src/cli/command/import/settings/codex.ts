import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../../../model/defined.ts'
import { isObject, nonBlankString, stringOrEmpty } from '../../../../model/json.ts'
import { EFFORT_LEVELS } from '../../../../model/request.ts'
import type { McpServerConfig } from '../../../../tool/mcp/client/server-config.ts'
import { parseToml } from '../../../prompt-files/toml.ts'
import {
  copyCommands,
  nameUnusedKeys,
  readPart,
  readSettingsText,
  stringList,
  type MutableSettings,
  type SettingsReader,
} from './agent-settings.ts'

/** Codex: `config.toml` of the user and of the project, and prompts. */
export const readCodexSettings: SettingsReader = (home, folder, found) => {
  for (const path of [join(home, '.codex', 'config.toml'), join(folder, '.codex', 'config.toml')]) {
    const text = readSettingsText(path, found)
    if (text !== undefined) readPart(path, found, () => readConfig(path, parseToml(text), found))
  }
  copyCommands(join(home, '.codex', 'prompts'), found)
  if (existsSync(join(home, '.codex', 'AGENTS.md')))
    found.inPlace.push('~/.codex/AGENTS.md: your instructions, unless you have an AGENTS.md for Dragoman')
  if (existsSync(join(home, '.codex', 'skills'))) found.inPlace.push('~/.codex/skills: your skills')
  if (existsSync(join(home, '.codex', 'rules'))) found.unsupported.push('~/.codex/rules')
}

const USED_KEYS = ['mcp_servers', 'model', 'model_provider', 'model_reasoning_effort', 'projects']

function readConfig(path: string, config: Readonly<Record<string, unknown>>, found: MutableSettings): void {
  const { mcp_servers: servers, model, model_provider: provider = 'openai', model_reasoning_effort: effort } = config
  for (const [name, entry] of Object.entries(isObject(servers) ? servers : {})) {
    const server = isObject(entry) ? toServer(entry) : undefined
    if (server) Object.defineProperty(found.servers, name, { value: server, enumerable: true, configurable: true })
    else found.unsupported.push(`${path}: the MCP server ${name} has neither a command nor a URL`)
  }
  const name = nonBlankString(model)
  if (name !== undefined && provider === 'openai') {
    found.config.model ??= `openai/${name}`
    const level = EFFORT_LEVELS.find((one) => one === effort)
    if (level) found.config.models ??= { [`openai/${name}`]: { effort: level } }
  } else if (name !== undefined)
    found.unsupported.push(`${path}: the model ${name} of ${stringOrEmpty(provider)}; choose one with /model`)
  nameUnusedKeys(path, config, USED_KEYS, found)
}

function toServer(entry: Readonly<Record<string, unknown>>): McpServerConfig | undefined {
  const { command, url, env, http_headers: headers, bearer_token_env_var: token, cwd, enabled } = entry
  const program = nonBlankString(command)
  const address = nonBlankString(url)
  if (program === undefined && address === undefined) return undefined
  const variable = nonBlankString(token)
  const allHeaders = { ...toStrings(headers), ...(variable !== undefined && { Authorization: `Bearer $${variable}` }) }
  const passed = Object.fromEntries(stringList(entry['env_vars']).map((name) => [name, `$${name}`]))
  const allEnv = { ...passed, ...toStrings(env) }
  return defined({
    command: program,
    args: program === undefined ? undefined : stringList(entry['args']),
    env: Object.keys(allEnv).length > 0 ? allEnv : undefined,
    cwd: nonBlankString(cwd),
    httpUrl: program === undefined ? address : undefined,
    headers: Object.keys(allHeaders).length > 0 ? allHeaders : undefined,
    includeTools: Array.isArray(entry['enabled_tools']) ? stringList(entry['enabled_tools']) : undefined,
    excludeTools: Array.isArray(entry['disabled_tools']) ? stringList(entry['disabled_tools']) : undefined,
    disabled: enabled === false ? true : undefined,
  })
}

function toStrings(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(isObject(value) ? value : {}).map(([key, one]) => [key, String(one)]))
}
