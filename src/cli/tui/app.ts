import { execFile } from 'node:child_process'
import type { Agent } from '../../agent/agent.ts'
import type { ApprovalMode } from '../../policy/policy.ts'
import type { RunArgs } from '../line/args.ts'
import { nearestNames } from '../line/nearest-name.ts'
import { type Assembled, assemble, workFolder } from '../setup/assemble.ts'
import { readSettings, type Settings } from '../config/read.ts'
import { Complaint, EXIT } from '../exit.ts'
import { tapFor } from '../headless.ts'
import { type Chosen, chooseModel, settledModel } from '../setup/model.ts'
import { projectFiles } from './files.ts'
import { attachmentProblems } from './attach.ts'
import { completions, type Sources, type Words } from './complete.ts'
import { tilde } from '../own/places.ts'
import { lastModel, recalledModel } from '../setup/recall.ts'
import { onStop } from '../stopping.ts'
import { startTelemetry } from '../setup/telemetry.ts'
import { withDropped } from './dropped.ts'
import { askTrust, firstRun } from './first-run.ts'
import { type Front, openFront } from './front.ts'
import { openPlainFront } from './plain-front.ts'
import { readHistory, writeHistory } from './history.ts'
import { edit } from './input/editor.ts'
import type { Deed } from './input/press.ts'
import { farewell, forgetEmpty, isEmpty } from './leave.ts'
import { modify, writeInEditor } from './outside.ts'
import { replay } from './replay.ts'
import { startBangs } from './bang.ts'
import { SLASHES, showDetails } from './slash/commands.ts'
import { customCommands } from './slash/custom.ts'
import type { Desk, Slash } from './slash/slash.ts'
import { resourceMentions, serverResources, serverSlashes } from './servers.ts'
import { startState, type State } from './state.ts'
import { startTalk, type Talk } from './talk.ts'
import { line } from './term/line.ts'
import { themeFor } from './term/theme.ts'
import { blockLines } from './view/frame.ts'
import { welcome } from './view/welcome.ts'

const NOT_KEPT = 'This session is not kept (--no-session), so that cannot be done.'

/** What Shift-Tab goes through. Asking nothing is not among them: it takes a word, so that no key too many leads there. */
const MODES: readonly ApprovalMode[] = ['default', 'auto_edit', 'plan']

/** What people type to leave and for help wherever they are: it is not for a model. */
const BARE_WORDS: ReadonlyMap<string, string> = new Map([
  ...['exit', 'quit', ':q', ':q!', ':wq', ':x'].map((word) => [word, '/quit'] as const),
  ...['help', '?'].map((word) => [word, '/help'] as const),
])

/** The conversation on a terminal, until the person leaves. Gives the exit code. */
export async function interactive(args: RunArgs): Promise<number> {
  const folder = workFolder(args)
  const ownTheme = themeFor('auto', process.env)
  await askTrust(folder, ownTheme)
  const settings = readSettings(folder)
  const { config } = settings
  const theme = themeFor(config.theme ?? 'auto', process.env)
  const beginning = args.model ?? args.resume ?? settledModel(config) ?? (await firstRun(config, theme))
  if (beginning === undefined) return EXIT.ok
  if (typeof beginning === 'object' && 'tour' in beginning) return (await import('../command/tour.ts')).tourCommand([])
  const telemetry = startTelemetry(config.telemetry)
  const tap = await tapFor(args)
  const choice = { recalled: recalledModel(args), maxCost: args.maxCost, tap }
  let chosen: Chosen = await chooseModel(typeof beginning === 'object' ? beginning.model : args.model, config, choice)
  let mode: ApprovalMode = args.mode ?? config.approvalMode ?? 'default'
  let ready: Assembled
  let agent: Agent
  let leave: (code: number) => void = () => undefined
  const left = new Promise<number>((resolve) => {
    leave = resolve
  })
  const talk: Talk = startTalk(
    () => front,
    () => agent,
    (event) => {
      telemetry?.see(event)
      // An approved plan sets the mode.
      if (event.type === 'reply') refresh()
      // A command may have checked out another branch.
      if (event.type === 'run-close') void showBranch()
    },
    (name) => mentions.get(name),
  )
  const bangs = startBangs()
  const mentions = resourceMentions(() => ready.mcp?.servers)

  /** Rules may have been added and removed since the start; settings that have become wrong are for the next start to complain of. */
  function settingsNow(): Settings {
    try {
      return readSettings(folder)
    } catch (error) {
      if (!(error instanceof Complaint)) throw error
      return settings
    }
  }

  async function take(session: Pick<RunArgs, 'resume' | 'fork' | 'takeOver'>): Promise<void> {
    const { resume: _resume, fork: _fork, takeOver: _takeOver, ...rest } = args
    ready = await assemble({ ...rest, ...session, mode }, settingsNow(), chosen.port, talk.ask)
    agent = { ...ready.agent, model: chosen.port, inbox: talk.inbox }
    tap?.follow(agent.session)
    // While the person reads and types there is time to connect.
    ready.mcp?.servers.start()
  }
  await take({
    ...(args.resume !== undefined && { resume: args.resume }),
    ...(args.takeOver && { takeOver: true }),
    ...(args.fork !== undefined && { fork: args.fork }),
  })

  const custom = customCommands(folder)
  const slashes = (): Slash[] => [...SLASHES, ...custom, ...serverSlashes(ready.mcp?.servers)]
  const files = projectFiles(folder)
  const sources: Sources = {
    commands: () =>
      slashes().map(({ name, about, aliases = [] }) => ({
        value: `/${name}`,
        about,
        aliases: aliases.map((alias) => `/${alias}`),
      })),
    files: () => {
      renewFiles()
      return [...files.known, ...serverResources(ready.mcp?.servers)]
    },
    words: (name) => wordsOf.get(name) ?? void findWords(name),
  }
  /** What can stand after the names of commands; found out when one is typed, and forgotten when it is sent. */
  const wordsOf = new Map<string, Words>()

  /** A name goes before an alias: a command of the person's own may have the name of one. */
  function slashNamed(word: string): Slash | undefined {
    const all = slashes()
    return all.find(({ name }) => name === word) ?? all.find(({ aliases }) => aliases?.includes(word))
  }

  async function findWords(command: string): Promise<void> {
    const slash = slashNamed(command)
    if (!slash?.choices) return
    wordsOf.set(command, { items: [] })
    // What cannot be found out is not offered: nobody wants an error for a key.
    const find = async () => (await slash.choices?.(desk)) ?? []
    const items = await find().catch(() => [])
    wordsOf.set(command, { items, ...(slash.takesOthers && { others: true }) })
    complete()
  }
  const start = startState(statusOf(agent!, mode, folder), {
    history: readHistory(folder),
    vim: config.vim ?? false,
    root: folder,
  })
  const isPlain = config.screenReader === true || process.env['TERM'] === 'dumb'
  const front: Front = isPlain ? openPlainFront(start, act) : openFront(start, theme, act)

  /** A session goes on with the model that it was held with. */
  async function useOwnModel(): Promise<void> {
    const own = lastModel(agent.session.entries)
    const { provider, model } = chosen.port.origin
    if (own === undefined || own === `${provider}/${model}`) return
    const problem = await desk.setModel(own)
    front.say(
      problem === undefined
        ? `It goes on with its own model, ${own}.`
        : `It was held with ${own}, which cannot be used here: ${problem} It goes on with ${provider}/${model}.`,
      problem === undefined ? undefined : 'warn',
    )
  }

  const desk: Desk = {
    front,
    talk,
    settings,
    folder,
    agent: () => agent,
    servers: () => ready.mcp?.servers,
    async setModel(name) {
      try {
        const former = chosen
        chosen = await chooseModel(name, config, { maxCost: args.maxCost, tap })
        agent = { ...agent, model: chosen.port }
        ready.useModel(chosen.port)
        await former.close()
        refresh()
        return undefined
      } catch (error) {
        if (!(error instanceof Complaint)) throw error
        return error.message
      }
    },
    sandbox: {
      state: () => ready.sandbox.state(),
      async setNetwork(isOpen) {
        ready.sandbox.setNetwork(isOpen)
        await showSandbox()
      },
    },
    setMode(next) {
      agent.mode?.set(next)
      refresh()
    },
    async apart(use) {
      if (args.noSession) return front.say(NOT_KEPT, 'warn')
      if (talk.isBusy) return front.say('The model is working; stop it first (Esc).', 'warn')
      const { id } = agent.session
      await ready.close()
      try {
        await use(id)
      } finally {
        await take({ resume: id })
      }
    },
    async open(session) {
      if (args.noSession && (session.resume ?? session.fork) !== undefined) return front.say(NOT_KEPT, 'warn')
      if (talk.isBusy) return front.say('The model is working; stop it first (Esc).', 'warn')
      const former = ready
      try {
        // The log of a session is locked: its own session is closed before it is opened again.
        await former.close()
        await take(session)
        const wasEmpty = isEmpty(former.agent.session)
        if (former.agent.session.id !== agent.session.id && !args.noSession) forgetEmpty(former.agent.session, folder)
        const words = opened(session, agent.session.id, wasEmpty)
        if (session.fork === undefined) front.say(words)
        front.print(replay(agent.session.entries, front.look))
        // What was said before may fill the screen: what a fork did, and another model, are told below it.
        if (session.fork !== undefined) front.say(words)
        if (session.resume !== undefined) await useOwnModel()
        const { branch, sandbox } = front.state.status
        const kept = { ...(branch !== undefined && { branch }), ...(sandbox !== undefined && { sandbox }) }
        front.update((state) => ({ ...state, status: { ...statusOf(agent, mode, folder), ...kept } }))
      } catch (error) {
        if (!(error instanceof Complaint)) throw error
        front.say(error.message, 'bad')
        await take({ resume: former.agent.session.id })
      }
    },
    async offer(text) {
      const choices = await slashes()
        .find(({ name }) => text === `/${name} `)
        ?.choices?.(desk)
      // Where nothing can be shown below the input, what there is stands above it.
      if (isPlain) return front.print((choices ?? []).map(({ value, about = '' }) => line(`${text}${value}  ${about}`)))
      front.update((state) => ({ ...state, editor: edit(state.editor, { do: 'set', text }) }))
      complete()
    },
    slashes,
    quit: () => leave(EXIT.ok),
  }

  async function showSandbox(): Promise<void> {
    const state = await ready.sandbox.state()
    inStatus({ sandbox: !state.inForce ? 'no sandbox' : state.network ? 'sandbox, network' : 'sandbox' })
  }

  async function showBranch(): Promise<void> {
    const branch = await branchOf(folder)
    front.update((state) => {
      const { branch: _former, ...others } = state.status
      return { ...state, status: { ...others, ...(branch !== undefined && { branch }) } }
    })
  }

  function refresh(): void {
    mode = agent.mode?.get() ?? mode
    inStatus(statusOf(agent, mode, folder))
  }

  function inStatus(news: Partial<State['status']>): void {
    front.update((state) => ({ ...state, status: { ...state.status, ...news } }))
  }

  function act(deed: Deed): void {
    void Promise.resolve(perform(deed)).catch((error: unknown) =>
      front.say(error instanceof Error ? error.message : String(error), 'bad'),
    )
  }

  async function perform(deed: Deed): Promise<void> {
    switch (deed.do) {
      case 'say':
        writeHistory(folder, front.state.history)
        return said(deed.text)
      case 'answer':
        return talk.answer({
          ask: deed.ask,
          outcome: deed.outcome,
          ...(deed.words !== undefined && { words: deed.words }),
          ...(deed.grant && { grant: deed.grant }),
          ...(deed.scope && { scope: deed.scope }),
          ...(deed.access && { access: deed.access }),
        })
      case 'modify': {
        const asked = talk.asked(deed.ask)
        const reply = asked && (await modify(front, asked, agent, config.editor))
        return reply && talk.answer(reply)
      }
      case 'stop':
        bangs.stop()
        return talk.stop()
      case 'quit':
        return leave(EXIT.ok)
      case 'details':
        return showDetails(desk)
      case 'editor':
        return writeInEditor(front, config.editor)
      case 'next-mode':
        return desk.setMode(MODES[(MODES.indexOf(mode) + 1) % MODES.length] ?? 'default')
      case 'redraw':
        return front.redraw()
      case 'suspend':
        return front.lend(suspend)
      case 'complete':
        return complete()
      case 'pasted':
        return front.update((state) => ({ ...state, editor: withDropped(state.editor, deed.text, folder) }))
      default:
        return front.update((state) => ({
          ...state,
          hint: 'Name a picture with @ (@shot.png), or drop its file here.',
        }))
    }
  }

  /** Files come and go while the model works: what an @ offers is found out when it is typed. */
  function renewFiles(): void {
    void files.load().then((isAnother) => isAnother && complete())
  }

  function complete(): void {
    front.update((state) => {
      const menu = completions(state.editor, sources)
      const { menu: former, ...rest } = state
      if (!menu) return rest
      // What the person has gone to stays chosen when there is more to choose from.
      const at = menu.items.findIndex(({ value }) => value === former?.items[former.at]?.value)
      return { ...rest, menu: { ...menu, at: Math.max(at, 0) } }
    })
  }

  function unknown(name: string): string {
    const names = slashes().flatMap((one) => [one.name, ...(one.aliases ?? [])])
    const near = nearestNames(name, names).map((one) => `/${one}`)
    const next = near.length === 0 ? '/help shows what there is.' : `did you mean ${near.slice(0, 3).join(' or ')}?`
    return `There is no /${name}; ${next}`
  }

  async function said(text: string): Promise<void> {
    wordsOf.clear()
    if (bangs.isBusy) {
      front.update((state) => ({ ...state, editor: edit(state.editor, { do: 'set', text }) }))
      return front.say('Your command is running; stop it first (Esc).', 'warn')
    }
    if (text.startsWith('!') && talk.isBusy) return front.say('The model is working; stop it first (Esc).', 'warn')
    if (text.startsWith('!')) return bangs.run(desk, text.slice(1).trim()).then(showBranch)
    const command = /^\/(?<name>[\w:-]+)(?:\s+(?<words>[^]*))?$/.exec(BARE_WORDS.get(text.trim()) ?? text)?.groups
    if (!command) {
      await mentions.read(text)
      for (const problem of attachmentProblems(text, folder, (name) => mentions.get(name))) front.say(problem)
      return talk.say(text)
    }
    const found = slashNamed(command['name'] ?? '')
    if (!found) return front.say(unknown(command['name'] ?? ''), 'warn')
    front.print(blockLines({ kind: 'user', text }, front.look, 0))
    await found.run(desk, command['words']?.trim() ?? '')
  }

  front.print(welcome(front.state.status, [...(chosen.notices ?? []), ...ready!.notices], front.look))
  if ((args.resume ?? args.fork) !== undefined) front.print(replay(agent!.session.entries, front.look))
  void showBranch()
  void showSandbox()
  renewFiles()
  if (args.prompt !== undefined) talk.say(args.prompt)
  else if (agent!.session.pending.length > 0) talk.goOn()

  const listenNoMore = onStop(() => leave(EXIT.interrupted))
  const code = await left
  listenNoMore()
  talk.stop()
  bangs.stop()
  await Promise.all([talk.ended(), bangs.ended()])
  if (!isEmpty(agent!.session) && !args.noSession) front.say(farewell(agent!.session, args.cwd))
  front.close()
  tap?.close()
  await ready!.close()
  if (!args.noSession) forgetEmpty(agent!.session, folder)
  await chosen.close()
  const undelivered = await telemetry?.close()
  if (undelivered !== undefined) process.stderr.write(`dragoman: ${undelivered}\n`)
  return code
}

/** Stops until the shell brings us back; where no shell waits, the system ignores it, and we go on. */
async function suspend(): Promise<void> {
  // All of our process group: whoever started us (npm) must stop too, or the shell sees nothing of it.
  process.kill(0, 'SIGTSTP')
  await new Promise((resolve) => setTimeout(resolve, 100))
}

/** What to say of a session that is open now. */
function opened({ resume, fork }: Pick<RunArgs, 'resume' | 'fork'>, id: string, wasEmpty: boolean): string {
  if (fork !== undefined)
    return `Forked from ${fork}. This is ${id}, a new session with all that was said so far; the other is kept as it is: /resume ${fork}`
  if (resume !== undefined) return `Session ${id}.`
  return wasEmpty ? 'New session.' : 'New session; the old one is kept: /resume'
}

function statusOf(agent: Agent, mode: ApprovalMode, folder: string): State['status'] {
  const { provider, model } = agent.model.origin
  return {
    model: `${provider}/${model}`,
    mode,
    folder: tilde(folder),
    ...(agent.model.window !== undefined && { window: agent.model.window }),
  }
}

function branchOf(folder: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile('git', ['symbolic-ref', '--short', 'HEAD'], { cwd: folder }, (error, out) =>
      resolve(error ? undefined : out.trim()),
    )
  })
}
