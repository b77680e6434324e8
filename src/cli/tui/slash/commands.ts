import { compact } from '../../../agent/compact.ts'
import type { CallPart } from '../../../model/turn.ts'
import { APPROVAL_MODES, MODE_NAMES } from '../../../policy/policy.ts'
import { jsonlStore } from '../../../session/store/jsonl.ts'
import { readInstructions } from '../../setup/instructions.ts'
import { changeUserConfig } from '../../config/write.ts'
import { visible } from '../../output/visible.ts'
import { sessionsFolder, tilde } from '../../own/places.ts'
import { told } from '../conversation.ts'
import type { MenuItem } from '../state.ts'
import { line, type Line } from '../term/line.ts'
import type { ThemeName } from '../term/theme.ts'
import { callLines } from '../view/call.ts'
import { markdown } from '../view/markdown.ts'
import { showContext } from './context.ts'
import { exportSession } from './export.ts'
import INIT from './init.md'
import { BASIC_KEYS } from './keys.ts'
import { runOwn } from './own.ts'
import { removePermission, showPermissions } from './permissions.ts'
import type { Desk, Slash } from './slash.ts'

const THEMES: readonly ThemeName[] = ['dark', 'light', 'none']

/** The commands, in the order of the help. */
export const SLASHES: readonly Slash[] = [
  { name: 'help', about: 'list the commands and keys', run: help },
  {
    name: 'model',
    aliases: ['models'],
    about: 'switch to another model',
    takes: '[provider/model]',
    run: model,
    choices: modelChoices,
    takesOthers: true,
  },
  {
    name: 'mode',
    about: 'set the approval mode',
    takes: '<mode>',
    run: mode,
    choices: modeChoices,
  },
  { name: 'plan', about: 'switch to plan mode, like /mode plan', run: (desk) => mode(desk, 'plan') },
  {
    name: 'sandbox',
    about: 'show the sandbox; network on or off',
    takes: '[network on|off]',
    run: sandbox,
    choices: () => [
      { value: 'network on', about: 'allow network access in the sandbox, for this session' },
      { value: 'network off', about: 'block it again' },
    ],
  },
  { name: 'tools', about: 'list the tools of the model', run: tools },
  { name: 'mcp', about: 'list the MCP servers and their state', run: servers },
  { name: 'memory', about: 'show the instruction files and memories', run: memory },
  { name: 'init', about: 'let the model write an AGENTS.md for this project', run: ({ talk }) => talk.say(INIT) },
  {
    name: 'permissions',
    aliases: ['allowed-tools', 'approvals'],
    about: 'show the approval mode and the rules; remove a rule',
    takes: '[mode|remove n]',
    run: permissions,
    choices: modeChoices,
    takesOthers: true,
  },
  { name: 'context', about: 'show what fills the context window', run: showContext },
  { name: 'compress', aliases: ['compact'], about: 'summarise the conversation so far', run: compress },
  {
    name: 'stats',
    aliases: ['cost', 'usage'],
    about: 'show tokens, cost, tools and time',
    run: (desk) => runOwn(desk, ['sessions', 'show', id(desk), '--stats']),
  },
  {
    name: 'cache',
    about: 'show why the prompt cache hit or missed',
    run: (desk) => runOwn(desk, ['sessions', 'show', id(desk), '--cache']),
  },
  {
    name: 'undo',
    aliases: ['rewind', 'restore'],
    about: 'undo file changes',
    takes: '[turn]',
    run: (desk, words) => desk.apart((session) => runOwn(desk, ['undo', ...split(words), '--session', session], true)),
  },
  { name: 'fork', about: 'continue in a copy of this session', run: (desk) => desk.open({ fork: id(desk) }) },
  {
    name: 'resume',
    aliases: ['continue'],
    about: 'continue another session',
    takes: '[id]',
    run: resume,
    choices: otherSessions,
  },
  { name: 'sessions', about: 'list the sessions of this folder', run: (desk) => runOwn(desk, ['sessions', 'list']) },
  {
    name: 'export',
    about: 'write this session to a file',
    takes: '[name.md|.json]',
    run: exportSession,
  },
  {
    name: 'config',
    aliases: ['settings'],
    about: 'show the settings that apply here and their files',
    run: (desk) => runOwn(desk, ['config', 'show']),
  },
  { name: 'copy', about: 'copy the last answer to the clipboard', run: copy },
  { name: 'doctor', about: 'test the tool calling of this model', run: doctor },
  {
    name: 'theme',
    about: 'set the colours',
    takes: '<theme>',
    run: theme,
    choices: () => THEMES.map((value) => ({ value })),
  },
  { name: 'vim', about: 'turn Vim keys in the input on or off', run: vim },
  { name: 'clear', aliases: ['new', 'reset'], about: 'start a new session', run: (desk) => desk.open({}) },
  { name: 'quit', aliases: ['exit', 'q'], about: 'leave; the session is kept', run: (desk) => desk.quit() },
]

const id = (desk: Desk): string => desk.agent().session.id
const split = (words: string): string[] => words.split(/\s+/).filter((word) => word !== '')

function modeChoices(): MenuItem[] {
  return MODE_NAMES.map((value) => ({ value, about: APPROVAL_MODES[value] }))
}

function help({ front, slashes }: Desk): void {
  const all = slashes()
  const widest = Math.max(...all.map(({ name, takes = '' }) => name.length + takes.length)) + 3
  const width = Math.min(widest, 30)
  const row = ({ name, takes = '', about, aliases = [] }: Slash): Line => [
    { text: `/${name} `, tone: 'accent' },
    { text: takes.padEnd(width - name.length - 1), tone: 'quiet' },
    { text: visible(about) },
    { text: aliases.length === 0 ? '' : `  (also ${aliases.map((alias) => `/${alias}`).join(', ')})`, tone: 'quiet' },
  ]
  const others = all.filter((slash) => !SLASHES.includes(slash))
  front.print([
    [],
    ...SLASHES.map(row),
    ...(others.length === 0 ? [] : [[], line('Commands of your own, of this project and of servers:', 'quiet')]),
    ...others.map(row),
    [],
    ...BASIC_KEYS.map(([keys, about]): Line => [{ text: keys.padEnd(24), tone: 'accent' }, { text: about }]),
  ])
}

async function model(desk: Desk, name: string): Promise<void> {
  if (name === '') return models(desk)
  const problem = await desk.setModel(name)
  desk.front.say(
    problem ?? `From here on: ${name}. The conversation so far goes with it.`,
    problem === undefined ? 'quiet' : 'bad',
  )
}

/** What can be used here and now; why the rest cannot is what `dragoman models` says. */
async function models({ front, settings }: Desk): Promise<void> {
  const { offersHere } = await import('../../command/models.ts')
  const { modelsText } = await import('../../command/models-text.ts')
  const { offers, catalog } = await offersHere(settings.config)
  const usable = offers.filter((offer) => offer.usable)
  front.print([
    [],
    ...modelsText(usable, catalog, false)
      .split('\n')
      .map((row) => line(row)),
  ])
  front.say('/model and a name: another one from here on. dragoman models says why others cannot be used.')
}

async function modelChoices({ settings }: Desk): Promise<MenuItem[]> {
  const { offersHere } = await import('../../command/models.ts')
  const { offers } = await offersHere(settings.config)
  const found = offers.flatMap(({ provider, usable, models: cards }) =>
    usable ? cards.map((card) => ({ value: visible(`${provider}/${card.id}`), isUsual: card.default === true })) : [],
  )
  // Those that a provider's name alone would mean stand first.
  return [...found.filter(({ isUsual }) => isUsual), ...found.filter(({ isUsual }) => !isUsual)]
}

/** The other sessions of this folder in which something was said, the newest first. */
function otherSessions({ folder, agent }: Desk): MenuItem[] {
  return jsonlStore(sessionsFolder(folder))
    .list()
    .filter((session) => session.id !== agent().session.id && session.title !== '')
    .toSorted((one, other) => other.changed - one.changed)
    .map(({ id: value, changed, title }) => ({
      value,
      about: `${when(changed)}  ${visible(title.replace(/\s+/g, ' '))}`,
    }))
}

/** A moment as a list shows it, by the clock of this place. */
function when(time: number): string {
  const at = new Date(time)
  const two = (number: number): string => String(number).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`
}

function resume(desk: Desk, words: string): void | Promise<void> {
  if (words !== '') return desk.open({ resume: words })
  const others = otherSessions(desk)
  if (others.length === 0) return desk.front.say('There is no other session in this folder yet.')
  return desk.offer('/resume ')
}

function mode({ front, setMode }: Desk, word: string): void {
  const found = MODE_NAMES.find((one) => one === word)
  if (!found) return front.say(`A mode is one of ${MODE_NAMES.join(', ')}.`, 'warn')
  setMode(found)
  front.say(`Mode ${found}: ${APPROVAL_MODES[found]}.`)
}

function permissions(desk: Desk, words: string): void {
  const number = /^remove\s+(?<number>\d+)$/.exec(words)?.groups?.['number']
  if (number !== undefined) return removePermission(desk, Number(number))
  return words === '' ? showPermissions(desk) : mode(desk, words)
}

async function sandbox({ front, sandbox: { state, setNetwork } }: Desk, words: string): Promise<void> {
  const wish = /^network (on|off)$/.exec(words)?.[1]
  if (wish === undefined && words !== '')
    return front.say('/sandbox, /sandbox network on, /sandbox network off.', 'warn')
  if (wish !== undefined) await setNetwork(wish === 'on')
  const now = await state()
  if (!now.inForce)
    return front.say([`Commands run without a sandbox: ${now.why}`, now.remedy].filter(Boolean).join(' '))
  const network = now.network
    ? 'They reach the network; /sandbox network off closes it.'
    : 'The network is closed to them; /sandbox network on opens it for this session.'
  front.say(`Commands run in a sandbox (${now.kind}). ${network}`)
}

function tools({ front, agent }: Desk): void {
  const rows = agent().toolbox.specs.map(({ name, description }): Line => [
    { text: name.padEnd(24), tone: 'accent' },
    { text: description.split(/\.(?=\s|$)|\n/, 1)[0] ?? '' },
  ])
  front.print([[], ...rows])
}

/** The servers of this session, as they are now: what they offer has the names that the model sees. */
async function servers(desk: Desk): Promise<void> {
  const here = desk.servers()
  if (!here || here.list.length === 0) return runOwn(desk, ['mcp', 'list'])
  const { serversText } = await import('../../command/mcp-look.ts')
  const rows = serversText(here).trimEnd().split('\n')
  desk.front.print([[], ...rows.map((row) => line(row))])
}

function memory({ front, folder }: Desk): void {
  const { files: written, memories, notices } = readInstructions(folder)
  const files = [...written, ...(memories ? [memories] : [])]
  for (const notice of notices) front.say(visible(notice), 'warn')
  if (files.length === 0)
    return front.say(
      'Nothing is remembered yet. What stands in an AGENTS.md of this folder is, and so is what you ask for.',
    )
  for (const { path, text } of files)
    front.print([[], line(visible(tilde(path), 'file-name'), 'accent'), ...markdown(visible(text.trim()), front.look)])
}

async function compress({ front, agent, talk }: Desk): Promise<void> {
  if (talk.isBusy) return front.say('The model is working; stop it first (Esc).', 'warn')
  const { session } = agent()
  const prompt = `${session.id}#compress`
  let isDone = false
  for await (const event of compact(agent(), prompt, new AbortController().signal)) {
    if (event.type === 'compact') isDone = event.done
    front.update((state) => ({ ...state, conversation: told(state.conversation, event, Date.now()) }))
  }
  // What was begun is over: a list of sessions must not say that this one was left in the middle.
  session.append({ kind: 'close', prompt, reason: 'done' })
  if (!isDone) front.say('Nothing was summarised: a summary would not be shorter than the conversation.')
}

function copy({ front, agent }: Desk): void {
  const last = agent().session.turns.findLast(({ role }) => role === 'assistant')
  const text =
    last?.role === 'assistant' ? last.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('') : ''
  if (text === '') return front.say('There is no answer yet.', 'warn')
  // The terminal itself puts it into the clipboard, also over SSH.
  process.stdout.write(`\u001B]52;c;${Buffer.from(text).toString('base64')}\u0007`)
  front.say(`Copied ${text.length} characters, if your terminal allows it.`)
}

function doctor(desk: Desk): Promise<void> {
  const { provider, model: name } = desk.agent().model.origin
  return runOwn(desk, ['doctor', `${provider}/${name}`])
}

function theme({ front }: Desk, word: string): void {
  const found = THEMES.find((one) => one === word)
  if (!found) return front.say(`A theme is one of ${THEMES.join(', ')}.`, 'warn')
  front.setTheme(found)
  changeUserConfig((config) => ({ ...config, theme: found }))
  front.say(`Theme ${found}, from now on.`)
}

function vim({ front }: Desk): void {
  const isOn = front.state.vim !== undefined
  front.update(({ vim: _unused, ...state }) => (isOn ? state : { ...state, vim: 'insert' }))
  front.say(isOn ? 'Vim’s keys are off.' : 'Vim’s keys are on: Esc leaves the insert mode.')
}

/** The last call with all that it said. */
export function showDetails({ front, agent }: Desk): void {
  const running = front.state.conversation.live.find(
    (block) => block.kind === 'call' && block.call.status === 'executing',
  )
  if (running?.kind === 'call') {
    const seconds = Math.floor((Date.now() - running.since) / 1000)
    const head = callLines(running.call, { look: front.look, seconds, progress: '', open: true })
    const rows = visible(running.progress.trimEnd(), 'tool-output').split('\n')
    return front.print([[], ...head, ...rows.map((row) => line(`  ${row}`, 'quiet'))])
  }
  const entry = agent().session.entries.findLast(({ kind }) => kind === 'result')
  if (entry?.kind !== 'result') return front.say('No tool has run yet.', 'warn')
  const { result, ms, facts } = entry
  const status = result.status === 'ok' ? 'success' : result.status === 'cancelled' ? 'cancelled' : 'error'
  const call = agent()
    .session.turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
    .findLast((part) => part.kind === 'call' && part.id === result.id) as CallPart | undefined
  const unknown = { kind: 'call', id: result.id, name: result.name, raw: '' } as const
  front.print([
    [],
    ...callLines(
      { status, call: call ?? unknown, result, ms, ...(facts && { facts }) },
      { look: front.look, seconds: 0, progress: '', open: true },
    ),
  ])
}
