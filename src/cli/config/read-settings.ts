import { join } from 'node:path'
import { readRegularFile } from '../../host/files/regular-file.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { importMcpServers } from '../../tool/mcp/client/import-servers.ts'
import { parsePointer } from '../../schema/json-pointer.ts'
import { listNearestNames } from '../args/nearest-name.ts'
import { validate, type ValidationError } from '../../schema/validate/validate.ts'
import { dropInvalidRules } from '../../policy/rules/rule-set.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { getConfigFolder, realPathOrSelf } from '../paths/folders.ts'
import { describeFileProblem, readProjectText } from '../paths/project-file.ts'
import { CONFIG_SCHEMA, type Config, type PolicyConfig, type ProjectConfig, type SandboxConfig } from './schema.ts'
import { isTrusted } from './folder-trust.ts'
import { listProjectFiles, PROJECT_FILE_KINDS, type ProjectFileKind } from './project-files.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'

export interface Settings {
  /** All tiers merged: the project's settings before the user's, and those before the machine's. */
  readonly config: Config
  /** Rules keep their tier, because a project may only tighten the user's rules. */
  readonly policies: { readonly admin?: PolicyConfig; readonly user?: PolicyConfig; readonly project?: PolicyConfig }
  /** The hooks of the user and of the machine, and those of the project, which run in the sandbox unless the user trusts them. */
  readonly hooks: { readonly own: readonly JsonObject[]; readonly project?: JsonObject; readonly isTrusted: boolean }
  readonly files: readonly string[]
  /** Which settings of a project are ignored, and why. */
  readonly notices: readonly string[]
}

export const EMPTY_SETTINGS: Settings = {
  config: {},
  policies: {},
  hooks: { own: [], isTrusted: false },
  files: [],
  notices: [],
}

export const MACHINE_CONFIG_FILE = '/etc/dragoman/config.json'

/** Reads the settings for a folder. An invalid file is an error: rules are never ignored silently. */
export function readSettings(folder: string): Settings {
  const admin = readConfigFile(MACHINE_CONFIG_FILE)
  const user = readConfigFile(getUserConfigPath())
  const path = getProjectConfigPath(folder)
  const projectFile = readProjectSettings(path, folder)
  const mcpFile = readProjectSettings(join(folder, PROJECT_MCP_FILE), folder)
  const trusted = projectFile.text === undefined || isTrusted(folder, 'settings')
  const isMcpTrusted = mcpFile.text === undefined || isTrusted(folder, 'servers')
  // An untrusted file may be invalid in any way, and must not stop the run.
  const restrictions = projectFile.text === undefined || trusted ? undefined : readRestrictions(path, projectFile.text)
  const project =
    projectFile.text === undefined ? undefined : trusted ? parseConfig(path, projectFile.text) : restrictions?.config
  const imported = mcpFile.text === undefined || !isMcpTrusted ? undefined : importMcpServers(mcpFile.text, folder)
  const found = defined({ admin, user, project })
  const {
    policy: _policy,
    projects: _projects,
    $schema: _schema,
    server: _server,
    hooks: _hooks,
    statusLine: _statusLine,
    keepBackgroundCommands: _keepBackgroundCommands,
    ...config
  } = { ...admin, ...user, ...project }
  const personalProjectConfig = user?.projects?.[realPathOrSelf(folder)]
  const untrusted = [...(trusted ? [] : [path]), ...(isMcpTrusted ? [] : [PROJECT_MCP_FILE])]
  return {
    config: {
      ...config,
      // A project must not open this machine to others.
      ...defined({
        server: user?.server ?? admin?.server,
        statusLine: user?.statusLine ?? admin?.statusLine,
        keepBackgroundCommands: user?.keepBackgroundCommands ?? admin?.keepBackgroundCommands,
      }),
      ...mergeConfigKey('providers', found),
      // The settings take precedence over .mcp.json.
      ...mergeConfigKey('mcpServers', imported ? { imported: { mcpServers: imported.servers }, ...found } : found),
      ...mergeConfigKey('acpAgents', found),
      ...mergeConfigKey('models', found),
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
    hooks: {
      own: [admin?.hooks, user?.hooks].filter((hooks) => hooks !== undefined),
      ...defined({ project: project?.hooks }),
      isTrusted: personalProjectConfig?.trustHooks ?? false,
    },
    files: [
      admin && MACHINE_CONFIG_FILE,
      user && getUserConfigPath(),
      project && path,
      imported && join(folder, PROJECT_MCP_FILE),
    ].filter((file) => file !== undefined),
    notices: [
      ...[projectFile.notice, mcpFile.notice].filter((notice) => notice !== undefined),
      ...(imported?.remarks ?? []).map((remark) => `${PROJECT_MCP_FILE}: ${remark}`),
      ...describeUntrusted(folder, untrusted),
      ...(restrictions?.problems ?? []).map((problem) => `A rule in ${path} is ignored: ${problem}.`),
    ],
  }
}

/** One sentence about everything of a project that is not used. */
function describeUntrusted(folder: string, settings: readonly string[]): string[] {
  const present = new Set(listProjectFiles(folder).map(({ kind }) => kind))
  const kinds = OTHER_KINDS.filter((kind) => present.has(kind) && !isTrusted(folder, kind))
  const parts = [
    ...(settings.length === 0 ? [] : [`The settings in ${settings.join(' and ')}`]),
    ...kinds.map((kind) => `the ${PROJECT_FILE_KINDS[kind].title} of this project`),
  ]
  if (parts.length === 0) return []
  const text = parts.join(parts.length === 2 ? ' and ' : ', ')
  const why = 'are ignored because this folder is not trusted. Run dragoman trust to review them.'
  return [`${text.charAt(0).toUpperCase()}${text.slice(1)} ${why}`]
}

const OTHER_KINDS: readonly ProjectFileKind[] = ['commands', 'skills', 'agents', 'hooks']

/** The MCP servers of a project, in the format of Claude Code. */
const PROJECT_MCP_FILE = '.mcp.json'

function readProjectSettings(path: string, folder: string): { text?: string; notice?: string } {
  const read = readProjectText(path, { within: folder, maxBytes: MAX_CONFIG_BYTES })
  if ('text' in read && !read.isCut) return { text: read.text }
  if ('problem' in read && read.problem === 'missing') return {}
  const reason = 'problem' in read ? describeFileProblem(read) : 'the file is too large'
  return { notice: `The settings in ${path} are ignored: ${reason}.` }
}

export function getUserConfigPath(): string {
  return join(getConfigFolder(), 'config.json')
}

/** Every field of a policy is a list. */
function mergePolicyConfigs(one: PolicyConfig, other: PolicyConfig): PolicyConfig {
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])] as (keyof PolicyConfig)[]
  return Object.fromEntries(keys.map((key) => [key, [...(one[key] ?? []), ...(other[key] ?? [])]]))
}

function mergeSandboxAccess(one: SandboxConfig, other: NonNullable<ProjectConfig['sandboxOptions']>): SandboxConfig {
  const concat = (key: keyof typeof other) => [...(one[key] ?? []), ...(other[key] ?? [])]
  return { ...one, allowNetwork: concat('allowNetwork'), allowOutside: concat('allowOutside') }
}

export function getProjectConfigPath(folder: string): string {
  return join(folder, '.dragoman', 'config.json')
}

/** Parses a config file; an error names the file, the key, and the nearest key. */
export function parseConfig(path: string, text: string): Config {
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new UserError(`${path} is not valid JSON: ${getErrorMessage(error)}`, EXIT_CODE.config)
  }
  const [problem] = validate(CONFIG_SCHEMA, json)
  if (problem) throw new UserError(`${path}: ${describeConfigProblem(problem)}`, EXIT_CODE.config)
  return json as JsonObject
}

export function readConfigFile(path: string): Config | undefined {
  const text = readConfigText(path)
  return text === undefined ? undefined : parseConfig(path, text)
}

const MAX_CONFIG_BYTES = 2 ** 20

function readConfigText(path: string): string | undefined {
  const content = readRegularFile(path, { maxBytes: MAX_CONFIG_BYTES })
  if ('bytes' in content && !content.isCut) return content.bytes.toString('utf8')
  if ('problem' in content && content.problem === 'missing') return undefined
  const reason = 'problem' in content ? describeFileProblem(content) : 'the file is too large'
  throw new UserError(`the settings in ${path} cannot be used: ${reason}`, EXIT_CODE.config)
}

/** What applies of an untrusted project: only its ask and deny rules. */
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

function mergeConfigKey(
  key: 'providers' | 'mcpServers' | 'acpAgents' | 'models' | 'catalog',
  tiers: Readonly<Record<string, Config>>,
) {
  const all = Object.assign({}, ...Object.values(tiers).map((config) => config[key])) as JsonObject
  return Object.keys(all).length > 0 ? { [key]: all } : {}
}

function describeConfigProblem({ path, keyword, message }: ValidationError): string {
  // At the top level the schema only demands an object.
  if (path === '') return 'the settings must be a JSON object'
  if (keyword !== 'additionalProperties') return message
  const steps = parsePointer(path)
  const unknownKey = steps.at(-1) ?? ''
  const [suggestion] = listNearestNames(unknownKey, findKnownKeys(steps.slice(0, -1)))
  return suggestion === undefined ? message : `"${steps.join('.')}" is not a known key; did you mean "${suggestion}"?`
}

function findKnownKeys(steps: readonly string[]): string[] {
  let schema: unknown = CONFIG_SCHEMA
  for (const step of steps) {
    if (!isObject(schema)) return []
    const properties = schema['properties']
    schema = isObject(properties) && Object.hasOwn(properties, step) ? properties[step] : schema['additionalProperties']
  }
  const properties = isObject(schema) ? schema['properties'] : undefined
  return isObject(properties) ? Object.keys(properties) : []
}
