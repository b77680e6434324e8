import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFile } from '../../../../host/files/regular-file.ts'
import type { McpServerConfig } from '../../../../tool/mcp/client/server-config.ts'
import { getErrorMessage } from '../../../../model/error-message.ts'
import { isObject, objectOrEmpty, tryParseJson } from '../../../../model/json.ts'
import { importMcpServers, stripJsonComments } from '../../../../tool/mcp/client/import-servers.ts'
import type { Config } from '../../../config/schema.ts'
import { getConfigFolder } from '../../../paths/folders.ts'
import { listUserPromptFiles } from '../../../prompt-files/prompt-source.ts'

export type RuleVerdict = 'allow' | 'ask' | 'deny'

/** A permission in the words of the other agent. */
export interface ForeignRule {
  readonly verdict: RuleVerdict
  readonly text: string
  /** Does it hold in this project only? */
  readonly isOfProject: boolean
}

/** What another agent has on this machine and in this folder, as far as it can be taken over. */
export interface AgentSettings {
  /** The files that were read. */
  readonly files: string[]
  readonly servers: Record<string, McpServerConfig>
  readonly rules: ForeignRule[]
  /** Settings of ours that have the same meaning. */
  readonly config: Pick<Config, 'model' | 'approvalMode' | 'vim' | 'theme' | 'editor' | 'models'>
  /** Files to copy: commands of the user. */
  readonly copies: { readonly from: string; readonly to: string; readonly text?: string }[]
  /** What is used where it is. */
  readonly inPlace: string[]
  /** What has no equal here, or must be decided anew. */
  readonly unsupported: string[]
}

/** Where one agent keeps what its users have. All paths begin at the home folder, or at the project. */
export interface SettingsSource {
  readonly title: string
  readonly files: readonly SettingsFile[]
  /** Folders of the user with commands, which are copied. */
  readonly commands: readonly string[]
  /** What is used where it is, and what it is. */
  readonly inPlace: Readonly<Record<string, string>>
  /** What has no equal here, with a remark or without one. */
  readonly unsupported: Readonly<Record<string, string>>
}

export interface SettingsFile {
  readonly path: string
  readonly isOfProject: boolean
  readonly read: (file: OpenSettingsFile, found: MutableSettings) => void
}

/** A settings file that exists: its path and text, and the folder of the project. */
export type OpenSettingsFile = Readonly<{ path: string; text: string; isOfProject: boolean; folder: string }>

export type MutableSettings = Omit<AgentSettings, 'config'> & {
  config: { -readonly [Key in keyof AgentSettings['config']]: AgentSettings['config'][Key] }
}

/** Reads what one agent has; `hasProject`: also what the project brings. */
export function readAgentSettings(
  { files, commands, inPlace, unsupported }: SettingsSource,
  { home, folder, hasProject }: { readonly home: string; readonly folder: string; readonly hasProject: boolean },
): MutableSettings {
  const found = createEmptySettings()
  for (const { path: name, isOfProject, read } of files) {
    if (isOfProject && !hasProject) continue
    const path = join(isOfProject ? folder : home, name)
    const text = readSettingsText(path, found)
    // A file that cannot be understood does not lose the others.
    if (text !== undefined) {
      try {
        read({ path, text, isOfProject, folder }, found)
      } catch (error) {
        found.unsupported.push(`${path}: ${getErrorMessage(error)}`)
      }
    }
  }
  for (const name of commands) copyCommands(join(home, name), found)
  for (const [name, what] of Object.entries(inPlace))
    if (existsSync(join(home, name))) found.inPlace.push(`~/${name}: ${what}`)
  for (const [name, remark] of Object.entries(unsupported))
    if (existsSync(join(home, name))) found.unsupported.push(`~/${name}${remark === '' ? '' : `; ${remark}`}`)
  return found
}

function createEmptySettings(): MutableSettings {
  return { files: [], servers: {}, rules: [], config: {}, copies: [], inPlace: [], unsupported: [] }
}

const MAX_SETTINGS_BYTES = 64 * 2 ** 20

/** The text of a settings file, if there is one; what cannot be read is named. */
function readSettingsText(path: string, found: MutableSettings): string | undefined {
  const content = readRegularFile(path, { maxBytes: MAX_SETTINGS_BYTES })
  if ('problem' in content) {
    if (content.problem !== 'missing') found.unsupported.push(`${path}: it cannot be read`)
    return undefined
  }
  found.files.push(path)
  return content.bytes.toString('utf8')
}

/** A reader of JSON, with comments and trailing commas. */
export function readJson(
  read: (json: Readonly<Record<string, unknown>>, file: OpenSettingsFile, found: MutableSettings) => void,
): SettingsFile['read'] {
  return (file, found) => {
    const value = tryParseJson(stripJsonComments(file.text))
    if (isObject(value)) read(value, file, found)
    else found.unsupported.push(`${file.path}: it is not a JSON object`)
  }
}

/** Adds the servers in the form that Claude Code, Gemini CLI and many others share; those that are skipped are named. */
export function addServersOfText({ path, text, folder }: OpenSettingsFile, found: MutableSettings): void {
  const { servers, remarks } = importMcpServers(text, folder)
  for (const [name, server] of Object.entries(servers)) addServer(name, server, path, found)
  found.unsupported.push(
    ...remarks.filter((remark) => /was skipped|not valid JSON/.test(remark)).map((one) => `${path}: ${one}`),
  )
}

/** Adds a server under any name, also one that objects have of their own. */
export function addServer(
  name: string,
  server: McpServerConfig | undefined,
  path: string,
  found: MutableSettings,
): void {
  if (server) Object.defineProperty(found.servers, name, { value: server, enumerable: true, configurable: true })
  else found.unsupported.push(`${path}: the MCP server ${name} has neither a command nor a URL`)
}

/** Hooks are read from the files of the other agent. */
export function nameHooks({ path, isOfProject }: OpenSettingsFile, hooks: unknown, found: MutableSettings): void {
  if (Object.keys(objectOrEmpty(hooks)).length > 0)
    found.inPlace.push(`${path}: hooks${isOfProject ? ', once this folder is trusted' : ''}`)
}

/** A model whose provider is known by the beginning of its name. */
export function readModelName(
  name: string,
  { prefix, provider }: { readonly prefix: string; readonly provider: string },
  path: string,
  found: MutableSettings,
): void {
  if (name.startsWith(prefix)) found.config.model ??= `${provider}/${name}`
  else if (name !== '') found.unsupported.push(`${path}: the model ${name}; choose one with /model`)
}

/** Commands of the user become our own; those of a project are used where they are. */
function copyCommands(root: string, found: MutableSettings): void {
  for (const { path, name } of listUserPromptFiles(root, (one) => /\.(?:md|toml)$/.test(one)))
    found.copies.push({ from: path, to: join(getConfigFolder(), 'commands', name) })
}

/** Names the keys of a settings file that mean nothing here. */
export function nameUnusedKeys(path: string, json: object, used: readonly string[], found: MutableSettings): void {
  const unused = Object.keys(json).filter((key) => !used.includes(key) && key !== '$schema')
  if (unused.length > 0) found.unsupported.push(`${path}: ${unused.join(', ')}`)
}

export function stringList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
