import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, objectOrEmpty, stringOrEmpty } from '../../../../model/json.ts'
import { importMcpServers } from '../../../../tool/mcp/client/import-servers.ts'
import {
  copyCommands,
  nameUnusedKeys,
  readSettingsObject,
  stringList,
  type MutableSettings,
  type SettingsReader,
} from './agent-settings.ts'

/** Gemini CLI: the settings of the user and of the project, in the old and the new form, and commands. */
export const readGeminiSettings: SettingsReader = (home, folder, found) => {
  readSettingsFile(join(home, '.gemini', 'settings.json'), false, folder, found)
  readSettingsFile(join(folder, '.gemini', 'settings.json'), true, folder, found)
  copyCommands(join(home, '.gemini', 'commands'), found)
  if (existsSync(join(home, '.gemini', 'GEMINI.md')))
    found.inPlace.push('~/.gemini/GEMINI.md: your instructions and memories')
  if (existsSync(join(home, '.gemini', 'skills'))) found.inPlace.push('~/.gemini/skills: your skills')
  if (existsSync(join(home, '.gemini', 'extensions'))) found.unsupported.push('~/.gemini/extensions')
}

const USED_KEYS = ['mcpServers', 'tools', 'allowedTools', 'excludeTools', 'model', 'general', 'vimMode', 'hooks']

function readSettingsFile(path: string, isOfProject: boolean, folder: string, found: MutableSettings): void {
  const json = readSettingsObject(path, found)
  if (!json) return
  const { servers, remarks } = importMcpServers(JSON.stringify(json), folder)
  Object.assign(found.servers, servers)
  found.unsupported.push(...remarks.filter((remark) => / was skipped/.test(remark)).map((one) => `${path}: ${one}`))
  const tools = objectOrEmpty(json['tools'])
  const general = objectOrEmpty(json['general'])
  for (const text of [...stringList(json['allowedTools']), ...stringList(tools['allowed'])])
    found.rules.push({ verdict: 'allow', text, isOfProject })
  for (const text of [...stringList(json['excludeTools']), ...stringList(tools['exclude'])])
    found.rules.push({ verdict: 'deny', text, isOfProject })
  const { model, hooks } = json
  const name = isObject(model) ? stringOrEmpty(model['name']) : stringOrEmpty(model)
  if (name.startsWith('gemini-')) found.config.model ??= `gemini/${name}`
  else if (name !== '') found.unsupported.push(`${path}: the model ${name}; choose one with /model`)
  if ((json['vimMode'] ?? general['vimMode']) === true) found.config.vim ??= true
  const editor = stringOrEmpty(general['preferredEditor'])
  if (editor !== '') found.config.editor ??= editor
  if (general['defaultApprovalMode'] === 'auto_edit' && !isOfProject) found.config.approvalMode ??= 'auto_edit'
  if (Object.keys(objectOrEmpty(hooks)).length > 0)
    found.inPlace.push(`${path}: hooks${isOfProject ? ', once this folder is trusted' : ''}`)
  nameUnusedKeys(`${path}, general`, general, ['vimMode', 'preferredEditor', 'defaultApprovalMode'], found)
  nameUnusedKeys(`${path}, tools`, tools, ['allowed', 'exclude'], found)
  nameUnusedKeys(path, json, USED_KEYS, found)
}
