import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type JsonObject } from '../../model/json.ts'
import { nearMisses } from '../../schema/near.ts'
import { validate } from '../../schema/validate.ts'
import { soundRules } from '../../policy/rule/book.ts'
import { Complaint, EXIT } from '../exit.ts'
import { configFolder } from '../own/places.ts'
import { CONFIG_SCHEMA, type Config, type PolicyConfig } from './schema.ts'
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
const MACHINE = '/etc/dragoman/config.json'

/** Reads the settings for a folder. A file that is wrong is a complaint: nobody's rules are passed over in silence. */
export function readSettings(folder: string): Settings {
  const admin = readConfigFile(MACHINE)
  const user = readConfigFile(userConfig())
  const path = projectConfig(folder)
  const text = contentOf(path)
  const trusted = text === undefined || isTrusted(folder)
  // A stranger's file may be wrong in any way; it may not even stop the run.
  const strange = text === undefined || trusted ? undefined : tightening(path, text)
  const project = text === undefined ? undefined : trusted ? parseConfig(path, text) : strange?.config
  const found = { ...(admin && { admin }), ...(user && { user }), ...(project && { project }) }
  const { policy: _policy, $schema: _schema, ...config } = { ...admin, ...user, ...project }
  return {
    config: {
      ...config,
      ...joined('providers', found),
      ...joined('mcpServers', found),
      ...joined('catalog', found),
    },
    policies: Object.fromEntries(
      Object.entries(found).flatMap(([tier, { policy }]) => (policy ? [[tier, policy]] : [])),
    ),
    files: [admin && MACHINE, user && userConfig(), project && path].filter((file) => file !== undefined),
    notices: trusted
      ? []
      : [
          `The settings in ${path} are not used, because this folder is not trusted: dragoman trust says what they are.`,
          ...(strange?.problems ?? []).map((problem) => `A rule in ${path} is left out: ${problem}.`),
        ],
  }
}

/** Where a person's own settings lie. */
export function userConfig(): string {
  return join(configFolder(), 'config.json')
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
  try {
    const stats = statSync(path)
    if (!stats.isFile()) throw new Complaint(`${path} is no ordinary file; move it away`, EXIT.config)
    if (stats.size > MAX_BYTES)
      throw new Complaint(`${path} is too large for settings (${stats.size} bytes); move it away`, EXIT.config)
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Complaint) throw error
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new Complaint(
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      EXIT.config,
    )
  }
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
