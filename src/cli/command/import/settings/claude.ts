import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, objectOrEmpty, stringOrEmpty } from '../../../../model/json.ts'
import { importMcpServers } from '../../../../tool/mcp/client/import-servers.ts'
import {
  copyCommands,
  nameUnusedKeys,
  readSettingsObject,
  readSettingsText,
  stringList,
  type MutableSettings,
  type SettingsReader,
} from './agent-settings.ts'

/** Claude Code: `~/.claude.json`, the settings of the user and of the project, commands. */
export const readClaudeSettings: SettingsReader = (home, folder, found) => {
  const state = readSettingsText(join(home, '.claude.json'), found)
  if (state !== undefined) {
    const { servers, remarks } = importMcpServers(state, folder)
    Object.assign(found.servers, servers)
    found.unsupported.push(
      ...remarks.filter((remark) => / was skipped/.test(remark)).map((one) => `~/.claude.json: ${one}`),
    )
  }
  readSettingsFile(join(home, '.claude', 'settings.json'), false, found)
  readSettingsFile(join(folder, '.claude', 'settings.json'), true, found)
  readSettingsFile(join(folder, '.claude', 'settings.local.json'), true, found)
  copyCommands(join(home, '.claude', 'commands'), found)
  for (const [name, what] of USER_FOLDERS)
    if (existsSync(join(home, '.claude', name))) found.inPlace.push(`~/.claude/${name}: ${what}`)
  for (const name of ['plugins', 'output-styles'])
    if (existsSync(join(home, '.claude', name))) found.unsupported.push(`~/.claude/${name}`)
}

const USER_FOLDERS = [
  ['CLAUDE.md', 'your instructions, unless you have an AGENTS.md for Dragoman'],
  ['skills', 'your skills'],
  ['agents', 'your subagents'],
] as const

/** The servers of `.mcp.json` are a matter of trust. */
const USED_KEYS = ['permissions', 'model', 'hooks', 'enableAllProjectMcpServers', 'enabledMcpjsonServers']

function readSettingsFile(path: string, isOfProject: boolean, found: MutableSettings): void {
  const json = readSettingsObject(path, found)
  if (!json) return
  const { permissions, model, hooks } = json
  if (isObject(permissions)) {
    for (const verdict of ['allow', 'ask', 'deny'] as const)
      for (const text of stringList(permissions[verdict])) found.rules.push({ verdict, text, isOfProject })
    readDefaultMode(path, permissions['defaultMode'], isOfProject, found)
    nameUnusedKeys(`${path}, permissions`, permissions, ['allow', 'ask', 'deny', 'defaultMode'], found)
  }
  const name = stringOrEmpty(model)
  if (name.startsWith('claude-')) found.config.model ??= `anthropic/${name}`
  else if (name !== '') found.unsupported.push(`${path}: the model ${name}; choose one with /model`)
  if (Object.keys(objectOrEmpty(hooks)).length > 0)
    found.inPlace.push(`${path}: hooks${isOfProject ? ', once this folder is trusted' : ''}`)
  nameUnusedKeys(path, json, USED_KEYS, found)
}

function readDefaultMode(path: string, mode: unknown, isOfProject: boolean, found: MutableSettings): void {
  if (mode === undefined || mode === 'default') return
  if (mode === 'acceptEdits' && !isOfProject) found.config.approvalMode ??= 'auto_edit'
  else if (mode === 'plan' && !isOfProject) found.config.approvalMode ??= 'plan'
  // Whoever wants no questions at all says so here again.
  else found.unsupported.push(`${path}: the permission mode ${stringOrEmpty(mode)}`)
}
