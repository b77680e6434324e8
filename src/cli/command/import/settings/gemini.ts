import { isObject, objectOrEmpty, stringOrEmpty } from '../../../../model/json.ts'
import {
  addServersOfText,
  nameHooks,
  nameUnusedKeys,
  readJson,
  readModelName,
  stringList,
  type SettingsSource,
} from './agent-settings.ts'

const readSettings = readJson((json, file, found) => {
  const { path, isOfProject } = file
  addServersOfText(file, found)
  const tools = objectOrEmpty(json['tools'])
  const general = objectOrEmpty(json['general'])
  for (const text of [...stringList(json['allowedTools']), ...stringList(tools['allowed'])])
    found.rules.push({ verdict: 'allow', text, isOfProject })
  for (const text of [...stringList(json['excludeTools']), ...stringList(tools['exclude'])])
    found.rules.push({ verdict: 'deny', text, isOfProject })
  const { model, hooks } = json
  const name = isObject(model) ? stringOrEmpty(model['name']) : stringOrEmpty(model)
  readModelName(name, { prefix: 'gemini-', provider: 'gemini' }, path, found)
  if ((json['vimMode'] ?? general['vimMode']) === true) found.config.vim ??= true
  const editor = stringOrEmpty(general['preferredEditor'])
  if (editor !== '') found.config.editor ??= editor
  if (general['defaultApprovalMode'] === 'auto_edit' && !isOfProject) found.config.approvalMode ??= 'auto_edit'
  nameHooks(file, hooks, found)
  nameUnusedKeys(`${path}, general`, general, ['vimMode', 'preferredEditor', 'defaultApprovalMode'], found)
  nameUnusedKeys(`${path}, tools`, tools, ['allowed', 'exclude'], found)
  nameUnusedKeys(path, json, USED_KEYS, found)
})

/** Gemini CLI: the settings of the user and of the project, in the old and the new form, and commands. */
export const GEMINI_SETTINGS: SettingsSource = {
  title: 'Gemini CLI',
  files: [
    { path: '.gemini/settings.json', isOfProject: false, read: readSettings },
    { path: '.gemini/settings.json', isOfProject: true, read: readSettings },
  ],
  commands: ['.gemini/commands'],
  inPlace: {
    '.gemini/GEMINI.md': 'your instructions and memories',
    '.gemini/skills': 'your skills',
  },
  unsupported: { '.gemini/extensions': '' },
}

const USED_KEYS = ['mcpServers', 'tools', 'allowedTools', 'excludeTools', 'model', 'general', 'vimMode', 'hooks']
