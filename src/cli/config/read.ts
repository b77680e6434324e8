import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { readOrdinaryFile } from '../../host/ordinary-file.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { importServers } from '../../tool/mcp/import.ts'
import { nearMisses } from '../../schema/near.ts'
import { validate } from '../../schema/validate.ts'
import { soundRules } from '../../policy/rule/book.ts'
import { Complaint, EXIT } from '../exit.ts'
import { configFolder } from '../own/places.ts'
import { readProjectFile } from '../own/project-file.ts'
import { CONFIG_SCHEMA, type Config, type PolicyConfig, type ProjectConfig, type SandboxConfig } from './schema.ts'
import { isTrusted } from './trust.ts'

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
export const NO_SETTINGS: Settings = { config: {}, policies: {}, files: [], notices: [] }

/** Where the settings of a machine lie; whoever looks after it writes them. */
export const MACHINE = '/etc/dragoman/config.json'

/** Reads the settings for a folder. A file that is wrong is a complaint: nobody's rules are passed over in silence. */
export function readSettings(folder: string): Settings {
  const admin = readConfigFile(MACHINE)
  const user = readConfigFile(userConfig())
  const path = projectConfig(folder)
  const own = readOffered(path, folder)
  const servers = readOffered(join(folder, MCP_FILE), folder)
  const trusted = (own.text === undefined && servers.text === undefined) || isTrusted(folder)
  // A stranger's file may be wrong in any way; it may not even stop the run.
  const strange = own.text === undefined || trusted ? undefined : tightening(path, own.text)
  const project = own.text === undefined ? undefined : trusted ? parseConfig(path, own.text) : strange?.config
  const imported = servers.text === undefined || !trusted ? undefined : importServers(servers.text, folder)
  const found = { ...(admin && { admin }), ...(user && { user }), ...(project && { project }) }
  const { policy: _policy, projects: _projects, $schema: _schema, ...config } = { ...admin, ...user, ...project }
  const here = user?.projects?.[projectKey(folder)]
  const untrusted = [...(own.text === undefined ? [] : [path]), ...(servers.text === undefined ? [] : [MCP_FILE])]
  return {
    config: {
      ...config,
      ...joined('providers', found),
      // What the settings say of a server goes before what the file of another program says of it.
      ...joined('mcpServers', imported ? { imported: { mcpServers: imported.servers }, ...found } : found),
      ...joined('catalog', found),
      ...(here?.sandboxOptions && { sandboxOptions: joinedAccess(config.sandboxOptions ?? {}, here.sandboxOptions) }),
    },
    policies: {
      ...Object.fromEntries(Object.entries(found).flatMap(([tier, { policy }]) => (policy ? [[tier, policy]] : []))),
      ...(here?.policy && { user: joinedRules(user?.policy ?? {}, here.policy) }),
    },
    files: [admin && MACHINE, user && userConfig(), project && path, imported && join(folder, MCP_FILE)].filter(
      (file) => file !== undefined,
    ),
    notices: [
      ...[own.notice, servers.notice].filter((notice) => notice !== undefined),
      ...(imported?.remarks ?? []).map((remark) => `${MCP_FILE}: ${remark}`),
      ...(trusted
        ? []
        : [
            `The settings in ${untrusted.join(' and ')} are not used, because this folder is not trusted: dragoman trust says what they are.`,
            ...(strange?.problems ?? []).map((problem) => `A rule in ${path} is left out: ${problem}.`),
          ]),
    ],
  }
}

/** The servers of a project, in the form of Claude Code. */
const MCP_FILE = '.mcp.json'

/** What a project offers. A stranger's file may be anything, a link or a pipe too. */
function readOffered(path: string, folder: string): { text?: string; notice?: string } {
  const read = readProjectFile(path, { within: folder, maxBytes: MAX_BYTES })
  const problem = 'problem' in read ? read.problem : read.isCut ? 'is too large for settings' : undefined
  if (problem !== undefined) return { notice: `The settings in ${path} are not used: it ${problem}.` }
  return 'text' in read ? { text: read.text } : {}
}

/** Where a person's own settings lie. */
export function userConfig(): string {
  return join(configFolder(), 'config.json')
}

/** The name of a project in the person's settings: its folder, all links followed. */
export function projectKey(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

/** A person's rules for everywhere and those for one project. */
function joinedRules(one: PolicyConfig, other: PolicyConfig): PolicyConfig {
  const keys = ['allow', 'ask', 'deny', 'protectedWrites', 'secretFiles'] as const
  const joinedOf = (key: (typeof keys)[number]) => [...(one[key] ?? []), ...(other[key] ?? [])]
  return Object.fromEntries(keys.map((key) => [key, joinedOf(key)]))
}

/** What commands may do beyond the sandbox everywhere, and what in one project. */
function joinedAccess(one: SandboxConfig, other: NonNullable<ProjectConfig['sandboxOptions']>): SandboxConfig {
  const joinedOf = (key: keyof typeof other) => [...(one[key] ?? []), ...(other[key] ?? [])]
  return { ...one, allowNetwork: joinedOf('allowNetwork'), allowOutside: joinedOf('allowOutside') }
}

/** Where a project's settings lie. */
export function projectConfig(folder: string): string {
  return join(folder, '.dragoman', 'config.json')
}

/** The settings of a text, or a complaint that names the file, the key, and the key that was meant. */
export function parseConfig(path: string, text: string): Config {
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new Complaint(`${path} is no JSON: ${error instanceof Error ? error.message : String(error)}`, EXIT.config)
  }
  const [problem] = validate(CONFIG_SCHEMA, json)
  if (problem) throw new Complaint(`${path}: ${sentence(problem, json)}`, EXIT.config)
  return json as JsonObject
}

/** The settings of one file; nothing if there is none. */
export function readConfigFile(path: string): Config | undefined {
  const text = contentOf(path)
  return text === undefined ? undefined : parseConfig(path, text)
}

/** More than this was not written by a person. */
const MAX_BYTES = 2 ** 20

function contentOf(path: string): string | undefined {
  const content = readOrdinaryFile(path, { maxBytes: MAX_BYTES })
  if ('bytes' in content && !content.isCut) return content.bytes.toString('utf8')
  if ('bytes' in content) throw new Complaint(`${path} is too large for settings; move it away`, EXIT.config)
  if (content.problem === 'missing') return undefined
  const what = content.problem === 'not-ordinary' ? 'is no ordinary file; move it away' : 'cannot be read'
  throw new Complaint(`${path} ${what}`, EXIT.config)
}

/** What an untrusted project may say: what to refuse and what to ask about. All else waits for trust. */
function tightening(path: string, text: string): { config: Config; problems: readonly string[] } | undefined {
  try {
    const { policy } = parseConfig(path, text)
    if (!policy) return undefined
    const { allow: _unused, ...tighter } = policy
    const { rules, problems } = soundRules(tighter)
    return { config: { policy: rules }, problems }
  } catch {
    return undefined
  }
}

function joined(key: 'providers' | 'mcpServers' | 'catalog', tiers: Readonly<Record<string, Config>>) {
  const all = Object.assign({}, ...Object.values(tiers).map((config) => config[key])) as JsonObject
  return Object.keys(all).length > 0 ? { [key]: all } : {}
}

function sentence(
  { path, keyword, message }: { path: string; keyword: string; message: string },
  json: unknown,
): string {
  if (path === '') return message.replace('The arguments', 'the settings')
  if (keyword !== 'additionalProperties') return message
  const steps = path.slice(1).split('/')
  const stray = steps.at(-1) ?? ''
  const near = nearMisses([stray], knownAt(steps.slice(0, -1), json)).get(stray)
  return near === undefined ? message : `"${steps.join('.')}" is not a known key; did you mean "${near}"?`
}

/** The keys that the schema knows at a place. */
function knownAt(steps: readonly string[], json: unknown): string[] {
  let schema: unknown = CONFIG_SCHEMA
  for (const step of steps) {
    if (!isObject(schema)) return []
    const properties = schema['properties']
    schema = isObject(properties) && Object.hasOwn(properties, step) ? properties[step] : schema['additionalProperties']
  }
  const properties = isObject(schema) ? schema['properties'] : undefined
  return isObject(properties) && isObject(json) ? Object.keys(properties) : []
}
