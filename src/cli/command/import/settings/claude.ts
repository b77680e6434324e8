import { isObject, stringOrEmpty } from '../../../../model/json.ts'
import {
  addServersOfText,
  nameHooks,
  nameUnusedKeys,
  readJson,
  readModelName,
  stringList,
  type MutableSettings,
  type OpenSettingsFile,
  type SettingsSource,
} from './agent-settings.ts'

const readSettings = readJson((json, file, found) => {
  const { path, isOfProject } = file
  const { permissions, model, hooks } = json
  if (isObject(permissions)) {
    for (const verdict of ['allow', 'ask', 'deny'] as const)
      for (const text of stringList(permissions[verdict])) found.rules.push({ verdict, text, isOfProject })
    readDefaultMode(file, permissions['defaultMode'], found)
    nameUnusedKeys(`${path}, permissions`, permissions, ['allow', 'ask', 'deny', 'defaultMode'], found)
  }
  // `[1m]` asks Claude Code for a longer context window; it is not part of the name.
  readModelName(stringOrEmpty(model).replace(/\[1m\]$/i, ''), { prefix: 'claude-', provider: 'anthropic' }, path, found)
  if (!isOfProject) readAppearance(json, found)
  nameHooks(file, hooks, found)
  nameUnusedKeys(path, json, isOfProject ? USED_KEYS : [...USED_KEYS, 'editorMode', 'theme'], found)
})

function readAppearance(json: Readonly<Record<string, unknown>>, { config }: MutableSettings): void {
  if (json['editorMode'] === 'vim') config.vim ??= true
  const theme = /^(?:dark|light)(?=-|$)/.exec(stringOrEmpty(json['theme']))?.[0]
  if (theme === 'dark' || theme === 'light') config.theme ??= theme
}

/** Claude Code: `~/.claude.json`, the settings of the user and of the project, commands. */
export const CLAUDE_SETTINGS: SettingsSource = {
  title: 'Claude Code',
  files: [
    { path: '.claude.json', isOfProject: false, read: addServersOfText },
    { path: '.claude/settings.json', isOfProject: false, read: readSettings },
    { path: '.claude/settings.json', isOfProject: true, read: readSettings },
    { path: '.claude/settings.local.json', isOfProject: true, read: readSettings },
  ],
  commands: ['.claude/commands'],
  inPlace: {
    '.claude/CLAUDE.md': 'your instructions, unless you have an AGENTS.md for Dragoman',
    '.claude/skills': 'your skills',
    '.claude/agents': 'your subagents',
  },
  unsupported: { '.claude/plugins': '', '.claude/output-styles': '' },
}

/** The servers of `.mcp.json` are a matter of trust. */
const USED_KEYS = ['permissions', 'model', 'hooks', 'enableAllProjectMcpServers', 'enabledMcpjsonServers']

function readDefaultMode({ path, isOfProject }: OpenSettingsFile, mode: unknown, found: MutableSettings): void {
  if (mode === undefined || mode === 'default') return
  if (mode === 'acceptEdits' && !isOfProject) found.config.approvalMode ??= 'auto_edit'
  else if (mode === 'plan' && !isOfProject) found.config.approvalMode ??= 'plan'
  // Whoever wants no questions at all says so here again.
  else found.unsupported.push(`${path}: the permission mode ${stringOrEmpty(mode)}`)
}
