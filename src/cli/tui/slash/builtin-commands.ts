import { compactHistory } from '../../../agent/history/compact.ts'
import type { CallPart } from '../../../model/turn.ts'
import { APPROVAL_MODES, APPROVAL_MODE_NAMES } from '../../../policy/policy.ts'
import { jsonlStore } from '../../../session/store/jsonl-store.ts'
import { readInstructions } from '../../setup/instructions.ts'
import { updateUserConfig } from '../../config/update-settings.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { sessionsFolderPath, abbreviateHome } from '../../paths/folders.ts'
import { reduceConversation } from '../conversation.ts'
import { BUSY_MESSAGE } from '../run-controller.ts'
import type { MenuItem } from '../ui-state.ts'
import { styledLine, type StyledLine } from '../term/styled-line.ts'
import type { ThemeName } from '../term/theme.ts'
import { renderCall } from '../view/call.ts'
import { renderMarkdown } from '../view/markdown.ts'
import { showContextUsage } from './context.ts'
import { exportCurrentSession } from './export.ts'
import INIT from './init.md'
import { BASIC_KEYS } from './keys.ts'
import { runCliSubcommand } from './run-cli.ts'
import { removePermission, showPermissions } from './permissions.ts'
import type { SlashCommandContext, SlashCommand } from './slash-command.ts'
import { defined } from '../../../model/defined.ts'

const THEME_CHOICES: readonly ThemeName[] = ['dark', 'light', 'none']

/** The commands, in the order of the help. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: 'help', about: 'list the commands and keys', run: showSlashHelp },
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
    name: 'mode',
    about: 'set the approval mode',
    takes: '<mode>',
    run: changeMode,
    choices: listModeChoices,
  },
  { name: 'plan', about: 'switch to plan mode, like /mode plan', run: (context) => changeMode(context, 'plan') },
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
  { name: 'mcp', about: 'list the MCP servers and their state', run: showServers },
  { name: 'memory', about: 'show the instruction files and memories', run: showMemory },
  {
    name: 'init',
    about: 'let the model write an AGENTS.md for this project',
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
  { name: 'context', about: 'show what fills the context window', run: showContextUsage },
  { name: 'compress', aliases: ['compact'], about: 'summarise the conversation so far', run: compressHistory },
  {
    name: 'stats',
    aliases: ['cost', 'usage'],
    about: 'show tokens, cost, tools and time',
    run: (context) => runCliSubcommand(context, ['sessions', 'show', currentSessionId(context), '--stats']),
  },
  {
    name: 'cache',
    about: 'show why the prompt cache hit or missed',
    run: (context) => runCliSubcommand(context, ['sessions', 'show', currentSessionId(context), '--cache']),
  },
  {
    name: 'undo',
    aliases: ['rewind', 'restore'],
    about: 'undo file changes',
    takes: '[turn]',
    run: (context, words) =>
      context.withSessionClosed((session) =>
        runCliSubcommand(context, ['undo', ...splitAtBlanks(words), '--session', session], true),
      ),
  },
  {
    name: 'fork',
    about: 'continue in a copy of this session',
    run: (context) => context.openSession({ fork: currentSessionId(context) }),
  },
  {
    name: 'resume',
    aliases: ['continue'],
    about: 'continue another session',
    takes: '[id]',
    run: resumeSession,
    choices: listOtherSessions,
  },
  {
    name: 'sessions',
    about: 'list the sessions of this folder',
    run: (context) => runCliSubcommand(context, ['sessions', 'list']),
  },
  {
    name: 'export',
    about: 'write this session to a file',
    takes: '[name.md|.json]',
    run: exportCurrentSession,
  },
  {
    name: 'config',
    aliases: ['settings'],
    about: 'show the settings that apply here and their files',
    run: (context) => runCliSubcommand(context, ['config', 'show']),
  },
  { name: 'copy', about: 'copy the last answer to the clipboard', run: copyLastAnswer },
  { name: 'doctor', about: 'test the tool calling of this model', run: runDoctor },
  {
    name: 'theme',
    about: 'set the colours',
    takes: '<theme>',
    run: changeTheme,
    choices: () => THEME_CHOICES.map((value) => ({ value })),
  },
  { name: 'vim', about: 'turn Vim keys in the input on or off', run: toggleVim },
  { name: 'clear', aliases: ['new', 'reset'], about: 'start a new session', run: (context) => context.openSession({}) },
  { name: 'quit', aliases: ['exit', 'q'], about: 'leave; the session is kept', run: (context) => context.quit() },
]

const currentSessionId = (context: SlashCommandContext): string => context.agent().session.id
const splitAtBlanks = (words: string): string[] => words.split(/\s+/).filter((word) => word !== '')

function listModeChoices(): MenuItem[] {
  return APPROVAL_MODE_NAMES.map((value) => ({ value, about: APPROVAL_MODES[value] }))
}

function showSlashHelp({ ui, listCommands }: SlashCommandContext): void {
  const all = listCommands()
  const widest = Math.max(...all.map(({ name, takes = '' }) => name.length + takes.length)) + 3
  const width = Math.min(widest, 30)
  const row = ({ name, takes = '', about, aliases = [] }: SlashCommand): StyledLine => [
    { text: `/${name} `, tone: 'accent' },
    { text: takes.padEnd(width - name.length - 1), tone: 'quiet' },
    { text: escapeForTerminal(about) },
    { text: aliases.length === 0 ? '' : `  (also ${aliases.map((alias) => `/${alias}`).join(', ')})`, tone: 'quiet' },
  ]
  const others = all.filter((slash) => !SLASH_COMMANDS.includes(slash))
  ui.print([
    [],
    ...SLASH_COMMANDS.map(row),
    ...(others.length === 0 ? [] : [[], styledLine('Commands of your own, of this project and of servers:', 'quiet')]),
    ...others.map(row),
    [],
    ...BASIC_KEYS.map(([keys, about]): StyledLine => [{ text: keys.padEnd(24), tone: 'accent' }, { text: about }]),
  ])
}

async function changeModel(context: SlashCommandContext, name: string): Promise<void> {
  if (name === '') return showModels(context)
  const problem = await context.setModel(name)
  context.ui.notify(
    problem ?? `From here on: ${name}. The conversation so far goes with it.`,
    problem === undefined ? 'quiet' : 'bad',
  )
}

/** What can be used here and now; why the rest cannot is what `dragoman models` says. */
async function showModels({ ui, settings }: SlashCommandContext): Promise<void> {
  const { listProviderOffers } = await import('../../command/models/models.ts')
  const { formatModels } = await import('../../command/models/models-text.ts')
  const { offers, catalog } = await listProviderOffers(settings.config)
  const usable = offers.filter((offer) => offer.usable)
  ui.print([
    [],
    ...formatModels(usable, catalog, false)
      .split('\n')
      .map((row) => styledLine(row)),
  ])
  ui.notify('/model and a name: another one from here on. dragoman models says why others cannot be used.')
}

async function listModelChoices({ settings }: SlashCommandContext): Promise<MenuItem[]> {
  const { listProviderOffers } = await import('../../command/models/models.ts')
  const { offers } = await listProviderOffers(settings.config)
  const found = offers.flatMap(({ provider, usable, models: cards }) =>
    usable
      ? cards.map((card) => ({ value: escapeForTerminal(`${provider}/${card.id}`), isUsual: card.default === true }))
      : [],
  )
  // Those that a provider's name alone would mean stand first.
  return [...found.filter(({ isUsual }) => isUsual), ...found.filter(({ isUsual }) => !isUsual)]
}

/** The other sessions of this folder in which something was said, the newest first. */
function listOtherSessions({ folder, agent }: SlashCommandContext): MenuItem[] {
  return jsonlStore(sessionsFolderPath(folder))
    .list()
    .filter((session) => session.id !== agent().session.id && session.title !== '')
    .toSorted((one, other) => other.changed - one.changed)
    .map(({ id: value, changed, title }) => ({
      value,
      about: `${formatTime(changed)}  ${escapeForTerminal(title.replace(/\s+/g, ' '))}`,
    }))
}

/** A moment as a list shows it, by the clock of this place. */
function formatTime(time: number): string {
  const at = new Date(time)
  const two = (number: number): string => String(number).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`
}

function resumeSession(context: SlashCommandContext, words: string): void | Promise<void> {
  if (words !== '') return context.openSession({ resume: words })
  const others = listOtherSessions(context)
  if (others.length === 0) return context.ui.notify('There is no other session in this folder yet.')
  return context.offerChoices('resume')
}

function changeMode({ ui, setMode }: SlashCommandContext, word: string): void {
  const found = APPROVAL_MODE_NAMES.find((one) => one === word)
  if (!found) return ui.notify(`A mode is one of ${APPROVAL_MODE_NAMES.join(', ')}.`, 'warn')
  setMode(found)
  ui.notify(`Mode ${found}: ${APPROVAL_MODES[found]}.`)
}

function managePermissions(context: SlashCommandContext, words: string): void {
  const number = /^remove\s+(?<number>\d+)$/.exec(words)?.groups?.['number']
  if (number !== undefined) return removePermission(context, Number(number))
  return words === '' ? showPermissions(context) : changeMode(context, words)
}

async function manageSandbox(
  { ui, sandbox: { state, setNetwork } }: SlashCommandContext,
  words: string,
): Promise<void> {
  const requestedNetwork = /^network (on|off)$/.exec(words)?.[1]
  if (requestedNetwork === undefined && words !== '')
    return ui.notify('/sandbox, /sandbox network on, /sandbox network off.', 'warn')
  if (requestedNetwork !== undefined) await setNetwork(requestedNetwork === 'on')
  const now = await state()
  if (!now.isActive)
    return ui.notify([`Commands run without a sandbox: ${now.why}`, now.remedy].filter(Boolean).join(' '))
  const network = now.network
    ? 'They reach the network; /sandbox network off closes it.'
    : 'The network is closed to them; /sandbox network on opens it for this session.'
  ui.notify(`Commands run in a sandbox (${now.kind}). ${network}`)
}

function showTools({ ui, agent }: SlashCommandContext): void {
  const rows = agent().toolbox.specs.map(({ name, description }): StyledLine => [
    { text: name.padEnd(24), tone: 'accent' },
    { text: description.split(/\.(?=\s|$)|\n/, 1)[0] ?? '' },
  ])
  ui.print([[], ...rows])
}

/** The servers of this session, as they are now: what they offer has the names that the model sees. */
async function showServers(context: SlashCommandContext): Promise<void> {
  const sessionServers = context.servers()
  if (!sessionServers || sessionServers.list.length === 0) return runCliSubcommand(context, ['mcp', 'list'])
  const { formatMcpServers } = await import('../../command/mcp/inspect.ts')
  const rows = formatMcpServers(sessionServers).trimEnd().split('\n')
  context.ui.print([[], ...rows.map((row) => styledLine(row))])
}

function showMemory({ ui, folder }: SlashCommandContext): void {
  const { files: written, memories, notices } = readInstructions(folder)
  const files = [...written, ...(memories ? [memories] : [])]
  for (const notice of notices) ui.notify(escapeForTerminal(notice), 'warn')
  if (files.length === 0)
    return ui.notify(
      'Nothing is remembered yet. What stands in an AGENTS.md of this folder is, and so is what you ask for.',
    )
  for (const { path, text } of files)
    ui.print([
      [],
      styledLine(escapeForTerminal(abbreviateHome(path), 'file-name'), 'accent'),
      ...renderMarkdown(escapeForTerminal(text.trim()), ui.viewOptions),
    ])
}

async function compressHistory({ ui, agent, controller }: SlashCommandContext): Promise<void> {
  if (controller.isBusy) return ui.notify(BUSY_MESSAGE, 'warn')
  const { session } = agent()
  const prompt = `${session.id}#compress`
  let isDone = false
  for await (const event of compactHistory(agent(), prompt, new AbortController().signal)) {
    if (event.type === 'compact') isDone = event.done
    ui.update((state) => ({ ...state, conversation: reduceConversation(state.conversation, event, Date.now()) }))
  }
  // What was begun is over: a list of sessions must not say that this one was left in the middle.
  session.append({ kind: 'close', prompt, reason: 'done' })
  if (!isDone) ui.notify('Nothing was summarised: a summary would not be shorter than the conversation.')
}

function copyLastAnswer({ ui, agent }: SlashCommandContext): void {
  const last = agent().session.turns.findLast(({ role }) => role === 'assistant')
  const text =
    last?.role === 'assistant' ? last.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('') : ''
  if (text === '') return ui.notify('There is no answer yet.', 'warn')
  // The terminal itself puts it into the clipboard, also over SSH.
  process.stdout.write(`\u001B]52;c;${Buffer.from(text).toString('base64')}\u0007`)
  ui.notify(`Copied ${text.length} characters, if your terminal allows it.`)
}

function runDoctor(context: SlashCommandContext): Promise<void> {
  const { provider, model: name } = context.agent().model.origin
  return runCliSubcommand(context, ['doctor', `${provider}/${name}`])
}

function changeTheme({ ui }: SlashCommandContext, word: string): void {
  const found = THEME_CHOICES.find((one) => one === word)
  if (!found) return ui.notify(`A theme is one of ${THEME_CHOICES.join(', ')}.`, 'warn')
  ui.setTheme(found)
  updateUserConfig((config) => ({ ...config, theme: found }))
  ui.notify(`Theme ${found}, from now on.`)
}

function toggleVim({ ui }: SlashCommandContext): void {
  const isOn = ui.state.vim !== undefined
  ui.update(({ vim: _unused, ...state }) => (isOn ? state : { ...state, vim: 'insert' }))
  ui.notify(isOn ? 'Vim’s keys are off.' : 'Vim’s keys are on: Esc leaves the insert mode.')
}

/** The last call with all that it said. */
export function showLastCall({ ui, agent }: SlashCommandContext): void {
  const running = ui.state.conversation.live.find((block) => block.kind === 'call' && block.call.status === 'executing')
  if (running?.kind === 'call') {
    const seconds = Math.floor((Date.now() - running.since) / 1000)
    const head = renderCall(running.call, { look: ui.viewOptions, seconds, progress: '', open: true })
    const rows = escapeForTerminal(running.progress.trimEnd(), 'tool-output').split('\n')
    return ui.print([[], ...head, ...rows.map((row) => styledLine(`  ${row}`, 'quiet'))])
  }
  const entry = agent().session.entries.findLast(({ kind }) => kind === 'result')
  if (entry?.kind !== 'result') return ui.notify('No tool has run yet.', 'warn')
  const { result, ms, facts } = entry
  const status = result.status === 'ok' ? 'success' : result.status === 'cancelled' ? 'cancelled' : 'error'
  const call = agent()
    .session.turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
    .findLast((part) => part.kind === 'call' && part.id === result.id) as CallPart | undefined
  const unknown = { kind: 'call', id: result.id, name: result.name, raw: '' } as const
  ui.print([
    [],
    ...renderCall(
      { status, call: call ?? unknown, result, ms, ...defined({ facts }) },
      { look: ui.viewOptions, seconds: 0, progress: '', open: true },
    ),
  ])
}
