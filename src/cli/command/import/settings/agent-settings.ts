import { join } from 'node:path'
import { readRegularFile } from '../../../../host/files/regular-file.ts'
import type { McpServerConfig } from '../../../../tool/mcp/client/server-config.ts'
import { getErrorMessage } from '../../../../model/error-message.ts'
import { isObject, tryParseJson } from '../../../../model/json.ts'
import { stripJsonComments } from '../../../../tool/mcp/client/import-servers.ts'
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
  readonly config: Pick<Config, 'model' | 'approvalMode' | 'vim' | 'editor' | 'models'>
  /** Files to copy: commands of the user. */
  readonly copies: { readonly from: string; readonly to: string; readonly text?: string }[]
  /** What is used where it is. */
  readonly inPlace: string[]
  /** What has no equal here, or must be decided anew. */
  readonly unsupported: string[]
}

/** Reads what one agent has. `home` and `folder` are where it looks. */
export type SettingsReader = (home: string, folder: string, found: MutableSettings) => void

export type MutableSettings = Omit<AgentSettings, 'config'> & {
  config: { -readonly [Key in keyof AgentSettings['config']]: AgentSettings['config'][Key] }
}

export function createEmptySettings(): MutableSettings {
  return { files: [], servers: {}, rules: [], config: {}, copies: [], inPlace: [], unsupported: [] }
}

const MAX_SETTINGS_BYTES = 64 * 2 ** 20

/** The text of a settings file, if there is one; what cannot be read is named. */
export function readSettingsText(path: string, found: MutableSettings): string | undefined {
  const content = readRegularFile(path, { maxBytes: MAX_SETTINGS_BYTES })
  if ('problem' in content) {
    if (content.problem !== 'missing') found.unsupported.push(`${path}: it cannot be read`)
    return undefined
  }
  found.files.push(path)
  return content.bytes.toString('utf8')
}

/** The same for JSON, with comments and trailing commas. */
export function readSettingsObject(path: string, found: MutableSettings): Record<string, unknown> | undefined {
  const text = readSettingsText(path, found)
  if (text === undefined) return undefined
  const value = tryParseJson(stripJsonComments(text))
  if (isObject(value)) return value
  found.unsupported.push(`${path}: it is not a JSON object`)
  return undefined
}

/** Runs a reader of one part; a part that cannot be understood does not lose the others. */
export function readPart(path: string, found: MutableSettings, read: () => void): void {
  try {
    read()
  } catch (error) {
    found.unsupported.push(`${path}: ${getErrorMessage(error)}`)
  }
}

/** Commands of the user become our own; those of a project are used where they are. */
export function copyCommands(root: string, found: MutableSettings): void {
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
