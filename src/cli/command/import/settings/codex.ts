import { defined } from '../../../../model/defined.ts'
import { isObject, nonBlankString, stringOrEmpty } from '../../../../model/json.ts'
import { EFFORT_LEVELS } from '../../../../model/request.ts'
import type { McpServerConfig } from '../../../../tool/mcp/client/server-config.ts'
import { parseToml } from '../../../prompt-files/toml.ts'
import {
  addServer,
  nameUnusedKeys,
  stringList,
  type MutableSettings,
  type OpenSettingsFile,
  type SettingsSource,
} from './agent-settings.ts'

/** Codex: `config.toml` of the user and of the project, and prompts. */
export const CODEX_SETTINGS: SettingsSource = {
  title: 'Codex',
  files: [
    { path: '.codex/config.toml', isOfProject: false, read: readConfig },
    { path: '.codex/config.toml', isOfProject: true, read: readConfig },
  ],
  commands: ['.codex/prompts'],
  inPlace: {
    '.codex/AGENTS.md': 'your instructions, unless you have an AGENTS.md for Dragoman',
    '.codex/skills': 'your skills',
    '.codex/hooks.json': 'your hooks',
  },
  unsupported: { '.codex/rules': '' },
}

const USED_KEYS = ['mcp_servers', 'model', 'model_provider', 'model_reasoning_effort', 'projects']

function readConfig({ path, text }: OpenSettingsFile, found: MutableSettings): void {
  const config: Readonly<Record<string, unknown>> = parseToml(text)
  const { mcp_servers: servers, model, model_provider: provider = 'openai', model_reasoning_effort: effort } = config
  for (const [name, entry] of Object.entries(isObject(servers) ? servers : {}))
    addServer(name, isObject(entry) ? toServer(entry) : undefined, path, found)
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
