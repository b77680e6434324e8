import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFile } from '../../host/files/regular-file.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { importMcpServers } from '../../tool/mcp/server/import-servers.ts'
import { matchSimilarNames } from '../../schema/similar-names.ts'
import { validate } from '../../schema/validate/validate.ts'
import { dropInvalidRules } from '../../policy/rules/rule-set.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { configFolderPath } from '../paths/folders.ts'
import { readProjectText } from '../paths/project-file.ts'
import { CONFIG_SCHEMA, type Config, type PolicyConfig, type ProjectConfig, type SandboxConfig } from './schema.ts'
import { isTrusted } from './trust.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/** The settings that hold in a folder. */
export interface Settings {
  /** All tiers in one; the project's over the person's, and those over the machine's. */
  readonly config: Config
  /** Rules keep their tier, because a project may only tighten what the person has settled. */
  readonly policies: { readonly admin?: PolicyConfig; readonly user?: PolicyConfig; readonly project?: PolicyConfig }
  /** The files that were read. */
  readonly files: readonly string[]
  /** What the person should know: that a project's settings were passed over, and why. */
  readonly notices: readonly string[]
}

/** What holds where nobody has settled anything: in the tour, for one. */
export const EMPTY_SETTINGS: Settings = { config: {}, policies: {}, files: [], notices: [] }

/** Where the settings of a machine lie; whoever looks after it writes them. */
export const MACHINE_CONFIG_FILE = '/etc/dragoman/config.json'

/** Reads the settings for a folder. A file that is wrong is a complaint: nobody's rules are passed over in silence. */
export function readSettings(folder: string): Settings {
  const admin = readConfigFile(MACHINE_CONFIG_FILE)
  const user = readConfigFile(userConfigPath())
  const path = projectConfigPath(folder)
  const projectFile = readProjectSettings(path, folder)
  const mcpFile = readProjectSettings(join(folder, PROJECT_MCP_FILE), folder)
  const trusted = (projectFile.text === undefined && mcpFile.text === undefined) || isTrusted(folder)
  // A stranger's file may be wrong in any way; it may not even stop the run.
  const restrictions = projectFile.text === undefined || trusted ? undefined : readRestrictions(path, projectFile.text)
  const project =
    projectFile.text === undefined ? undefined : trusted ? parseConfig(path, projectFile.text) : restrictions?.config
  const imported = mcpFile.text === undefined || !trusted ? undefined : importMcpServers(mcpFile.text, folder)
  const found = { ...defined({ admin, user, project }) }
  const { policy: _policy, projects: _projects, $schema: _schema, ...config } = { ...admin, ...user, ...project }
  const personalProjectConfig = user?.projects?.[resolveProjectKey(folder)]
  const untrusted = [
    ...(projectFile.text === undefined ? [] : [path]),
    ...(mcpFile.text === undefined ? [] : [PROJECT_MCP_FILE]),
  ]
  return {
    config: {
      ...config,
      ...mergeConfigKey('providers', found),
      // What the settings say of a server goes before what the file of another program says of it.
      ...mergeConfigKey('mcpServers', imported ? { imported: { mcpServers: imported.servers }, ...found } : found),
      ...mergeConfigKey('catalog', found),
      ...(personalProjectConfig?.sandboxOptions && {
        sandboxOptions: mergeSandboxAccess(config.sandboxOptions ?? {}, personalProjectConfig.sandboxOptions),
      }),
    },
    policies: {
      ...Object.fromEntries(Object.entries(found).flatMap(([tier, { policy }]) => (policy ? [[tier, policy]] : []))),
      ...(personalProjectConfig?.policy && {
        user: mergePolicyConfigs(user?.policy ?? {}, personalProjectConfig.policy),
      }),
    },
    files: [
      admin && MACHINE_CONFIG_FILE,
      user && userConfigPath(),
      project && path,
      imported && join(folder, PROJECT_MCP_FILE),
    ].filter((file) => file !== undefined),
    notices: [
      ...[projectFile.notice, mcpFile.notice].filter((notice) => notice !== undefined),
      ...(imported?.remarks ?? []).map((remark) => `${PROJECT_MCP_FILE}: ${remark}`),
      ...(trusted
        ? []
        : [
            `The settings in ${untrusted.join(' and ')} are not used, because this folder is not trusted: dragoman trust says what they are.`,
            ...(restrictions?.problems ?? []).map((problem) => `A rule in ${path} is left out: ${problem}.`),
          ]),
    ],
  }
}

/** The servers of a project, in the form of Claude Code. */
const PROJECT_MCP_FILE = '.mcp.json'

/** What a project offers. A stranger's file may be anything, a link or a pipe too. */
function readProjectSettings(path: string, folder: string): { text?: string; notice?: string } {
  const read = readProjectText(path, { within: folder, maxBytes: MAX_CONFIG_BYTES })
  const problem = 'problem' in read ? read.problem : read.isCut ? 'is too large for settings' : undefined
  if (problem !== undefined) return { notice: `The settings in ${path} are not used: it ${problem}.` }
  return 'text' in read ? { text: read.text } : {}
}

/** Where a person's own settings lie. */
export function userConfigPath(): string {
  return join(configFolderPath(), 'config.json')
}

/** The name of a project in the person's settings: its folder, all links followed. */
export function resolveProjectKey(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

/** A person's rules for everywhere and those for one project. */
function mergePolicyConfigs(one: PolicyConfig, other: PolicyConfig): PolicyConfig {
  const keys = ['allow', 'ask', 'deny', 'protectedWrites', 'secretFiles'] as const
  const concat = (key: (typeof keys)[number]) => [...(one[key] ?? []), ...(other[key] ?? [])]
  return Object.fromEntries(keys.map((key) => [key, concat(key)]))
}

/** What commands may do beyond the sandbox everywhere, and what in one project. */
function mergeSandboxAccess(one: SandboxConfig, other: NonNullable<ProjectConfig['sandboxOptions']>): SandboxConfig {
  const concat = (key: keyof typeof other) => [...(one[key] ?? []), ...(other[key] ?? [])]
  return { ...one, allowNetwork: concat('allowNetwork'), allowOutside: concat('allowOutside') }
}

/** Where a project's settings lie. */
export function projectConfigPath(folder: string): string {
  return join(folder, '.dragoman', 'config.json')
}

/** The settings of a text, or a complaint that names the file, the key, and the key that was meant. */
export function parseConfig(path: string, text: string): Config {
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new UserError(`${path} is no JSON: ${getErrorMessage(error)}`, EXIT_CODE.config)
  }
  const [problem] = validate(CONFIG_SCHEMA, json)
  if (problem) throw new UserError(`${path}: ${describeConfigProblem(problem, json)}`, EXIT_CODE.config)
  return json as JsonObject
}

/** The settings of one file; nothing if there is none. */
export function readConfigFile(path: string): Config | undefined {
  const text = readConfigText(path)
  return text === undefined ? undefined : parseConfig(path, text)
}

/** More than this was not written by a person. */
const MAX_CONFIG_BYTES = 2 ** 20

function readConfigText(path: string): string | undefined {
  const content = readRegularFile(path, { maxBytes: MAX_CONFIG_BYTES })
  if ('bytes' in content && !content.isCut) return content.bytes.toString('utf8')
  if ('bytes' in content) throw new UserError(`${path} is too large for settings; move it away`, EXIT_CODE.config)
  if (content.problem === 'missing') return undefined
  const reason = content.problem === 'not-ordinary' ? 'is no ordinary file; move it away' : 'cannot be read'
  throw new UserError(`${path} ${reason}`, EXIT_CODE.config)
}

/** What an untrusted project may say: what to refuse and what to ask about. All else waits for trust. */
function readRestrictions(path: string, text: string): { config: Config; problems: readonly string[] } | undefined {
  try {
    const { policy } = parseConfig(path, text)
    if (!policy) return undefined
    const { allow: _unused, ...tighter } = policy
    const { rules, problems } = dropInvalidRules(tighter)
    return { config: { policy: rules }, problems }
  } catch {
    return undefined
  }
}

function mergeConfigKey(key: 'providers' | 'mcpServers' | 'catalog', tiers: Readonly<Record<string, Config>>) {
  const all = Object.assign({}, ...Object.values(tiers).map((config) => config[key])) as JsonObject
  return Object.keys(all).length > 0 ? { [key]: all } : {}
}

function describeConfigProblem(
  { path, keyword, message }: { path: string; keyword: string; message: string },
  json: unknown,
): string {
  if (path === '') return message.replace('The arguments', 'the settings')
  if (keyword !== 'additionalProperties') return message
  const steps = path.slice(1).split('/')
  const unknownKey = steps.at(-1) ?? ''
  const suggestion = matchSimilarNames([unknownKey], findKnownKeys(steps.slice(0, -1), json)).get(unknownKey)
  return suggestion === undefined ? message : `"${steps.join('.')}" is not a known key; did you mean "${suggestion}"?`
}

/** The keys that the schema knows at a place. */
function findKnownKeys(steps: readonly string[], json: unknown): string[] {
  let schema: unknown = CONFIG_SCHEMA
  for (const step of steps) {
    if (!isObject(schema)) return []
    const properties = schema['properties']
    schema = isObject(properties) && Object.hasOwn(properties, step) ? properties[step] : schema['additionalProperties']
  }
  const properties = isObject(schema) ? schema['properties'] : undefined
  return isObject(properties) && isObject(json) ? Object.keys(properties) : []
}
