import { EFFORT_LEVELS } from '../../../model/request.ts'
import { updateUserConfig } from '../../config/update-settings.ts'
import { EXIT_CODE } from '../../user-error.ts'
import type { AppParts } from '../app-parts.ts'
import { switchSession, withSessionClosed } from '../session-actions.ts'
import { THEMES, type ThemeName } from '../term/theme.ts'
import { exportCurrentSession } from './export.ts'
import INIT from './init.md'
import REVIEW from './review.md'
import { showSessionDiff } from './show-diff.ts'
import {
  changeEffort,
  changeMode,
  changeModel,
  listModeChoices,
  listModelChoices,
  manageSandbox,
} from './model-commands.ts'
import { listMemoryChoices, manageMemory } from './memory-commands.ts'
import { managePermissions } from './permissions.ts'
import { listRewindChoices, redoRewind, rewindSession } from './rewind.ts'
import { runCliSubcommand } from './run-cli.ts'
import { manageTasks } from './tasks.ts'
import { compressHistory, copyLastAnswer, listOtherSessions, resumeOtherSession } from './session-commands.ts'
import {
  showAgents,
  showContextUsage,
  showHooks,
  showMcpServers,
  showSkills,
  showSlashHelp,
  showTools,
} from './show-commands.ts'
import type { SlashCommand } from './slash-command.ts'

/** The built-in commands, in the order of the help. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: 'help', about: 'list the commands and keys', run: (app) => showSlashHelp(app, SLASH_COMMANDS) },
  {
    name: 'model',
    aliases: ['models'],
    about: 'switch to another model',
    takes: '[provider/model]',
    run: changeModel,
    choices: listModelChoices,
    allowsOtherValues: true,
  },
  {
    name: 'effort',
    aliases: ['think', 'thinking', 'reasoning'],
    about: 'show or set how much the model thinks, for this session',
    takes: '[level|tokens]',
    run: changeEffort,
    choices: () => EFFORT_LEVELS.map((value) => ({ value })),
    allowsOtherValues: true,
  },
  { name: 'mode', about: 'set the approval mode', takes: '<mode>', run: changeMode, choices: listModeChoices },
  { name: 'plan', about: 'switch to plan mode, like /mode plan', run: (app) => changeMode(app, 'plan') },
  {
    name: 'sandbox',
    about: 'show the sandbox; network on or off',
    takes: '[network on|off]',
    run: manageSandbox,
    choices: () => [
      { value: 'network on', about: 'allow network access in the sandbox, for this session' },
      { value: 'network off', about: 'block it again' },
    ],
  },
  { name: 'tools', about: 'list the tools of the model', run: showTools },
  { name: 'skills', about: 'list the skills of this folder and your own', run: showSkills },
  { name: 'hooks', about: 'list the hooks that run here', run: showHooks },
  {
    name: 'tasks',
    aliases: ['bashes', 'ps'],
    about: 'list what runs in the background; read its output, stop it, or let it go on after the session',
    takes: '[id | stop id | keep id]',
    run: manageTasks,
  },
  { name: 'agents', about: 'list the agents that can get tasks', run: showAgents },
  { name: 'mcp', about: 'list the MCP servers and their state', run: showMcpServers },
  {
    name: 'memory',
    about: 'show the instruction files and memories; add or remove a memory',
    takes: '[add fact|remove n]',
    run: manageMemory,
    choices: listMemoryChoices,
    allowsOtherValues: true,
  },
  {
    name: 'init',
    about: 'let the model write an AGENTS.md for this project',
    isPrompt: true,
    run: ({ controller }) => controller.submit(INIT),
  },
  {
    name: 'permissions',
    aliases: ['allowed-tools', 'approvals'],
    about: 'show the approval mode and the rules; remove a rule',
    takes: '[mode|remove n]',
    run: managePermissions,
    choices: listModeChoices,
    allowsOtherValues: true,
  },
  { name: 'diff', about: 'show what this session has changed in files', run: showSessionDiff },
  {
    name: 'review',
    about: 'let the model review the changes that are not committed',
    takes: '[what to look at]',
    isPrompt: true,
    run: ({ controller }, words) =>
      controller.submit(words === '' ? REVIEW : `${REVIEW.trim()}\n\nLook especially at: ${words}`),
  },
  { name: 'context', about: 'show what fills the context window', run: showContextUsage },
  {
    name: 'compress',
    aliases: ['compact'],
    takes: '[what to keep]',
    about: 'summarise the conversation so far',
    run: compressHistory,
  },
  {
    name: 'stats',
    aliases: ['cost', 'usage'],
    about: 'show tokens, cost, tools and time',
    run: (app) => runCliSubcommand(app, ['sessions', 'show', currentSessionId(app), '--stats']),
  },
  {
    name: 'cache',
    about: 'show why the prompt cache hit or missed',
    run: (app) => runCliSubcommand(app, ['sessions', 'show', currentSessionId(app), '--cache']),
  },
  {
    name: 'undo',
    aliases: ['restore'],
    about: 'undo file changes',
    takes: '[turn | --redo]',
    run: (app, words) =>
      withSessionClosed(app, (id) =>
        runCliSubcommand(app, ['undo', ...words.split(/\s+/).filter(Boolean), '--session', id], 'on-terminal'),
      ),
  },
  {
    name: 'rewind',
    aliases: ['checkpoint'],
    about: 'go back to before a message: the conversation, the files, or both (Esc Esc)',
    takes: '[message] [both|conversation|files]',
    run: rewindSession,
    choices: listRewindChoices,
  },
  { name: 'redo', about: 'reverse the last rewind or undo', run: redoRewind },
  {
    name: 'fork',
    about: 'continue in a copy of this session',
    run: (app) => switchSession(app, { fork: currentSessionId(app) }),
  },
  {
    name: 'resume',
    aliases: ['continue'],
    about: 'continue another session',
    takes: '[id]',
    run: resumeOtherSession,
    choices: listOtherSessions,
  },
  {
    name: 'sessions',
    about: 'list the sessions of this folder',
    run: (app) => runCliSubcommand(app, ['sessions', 'list']),
  },
  { name: 'export', about: 'write this session to a file', takes: '[name.md|.json]', run: exportCurrentSession },
  {
    name: 'config',
    aliases: ['settings'],
    about: 'show the settings that apply here and their files',
    run: (app) => runCliSubcommand(app, ['config', 'show']),
  },
  { name: 'copy', about: 'copy the last answer to the clipboard', run: copyLastAnswer },
  {
    name: 'doctor',
    about: 'test the tool calling of this model',
    run: (app) => runCliSubcommand(app, ['doctor', app.ui.state.status.model]),
  },
  {
    name: 'theme',
    about: 'set the colours',
    takes: '<theme>',
    run: changeTheme,
    choices: () => THEME_CHOICES.map((value) => ({ value })),
  },
  { name: 'vim', about: 'turn Vim keys in the input on or off', run: toggleVim },
  { name: 'clear', aliases: ['new', 'reset'], about: 'start a new session', run: (app) => switchSession(app, {}) },
  { name: 'quit', aliases: ['exit', 'q'], about: 'leave; the session is saved', run: ({ exit }) => exit(EXIT_CODE.ok) },
]

const currentSessionId = ({ session }: AppParts): string => session.agent.session.id

const THEME_CHOICES = Object.keys(THEMES) as ThemeName[]

function changeTheme({ ui }: AppParts, word: string): void {
  const theme = THEME_CHOICES.find((one) => one === word)
  if (!theme) return ui.notify(`Unknown theme; use one of ${THEME_CHOICES.join(', ')}.`, 'warn')
  ui.setTheme(theme)
  updateUserConfig((config) => ({ ...config, theme }))
  ui.notify(`The theme is now ${theme}; saved in your settings.`)
}

function toggleVim({ ui }: AppParts): void {
  const isOn = ui.state.vim !== undefined
  ui.update(({ vim: _unused, ...state }) => (isOn ? state : { ...state, vim: 'insert' }))
  ui.notify(isOn ? 'Vim keys are off.' : 'Vim keys are on; Esc leaves insert mode.')
}
