import { execFile } from 'node:child_process'
import type { Agent } from '../../agent/agent.ts'
import type { ApprovalMode } from '../../policy/policy.ts'
import type { RunArgs } from '../args/run-args.ts'
import { nearestNames } from '../args/nearest-name.ts'
import { type AssembledAgent, assembleAgent, resolveWorkFolder } from '../setup/assemble-agent.ts'
import { readSettings, type Settings } from '../config/read-settings.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { openTrafficRecorder } from '../headless.ts'
import { type ChosenModel, chooseModel, findConfiguredModel } from '../setup/choose-model.ts'
import { createProjectFiles } from './mention/project-files.ts'
import { findAttachmentProblems } from './mention/attachments.ts'
import { findCompletions, type CompletionSources, type ArgumentChoices } from './input/completion.ts'
import { abbreviateHome } from '../paths/folders.ts'
import { findLastModel, findResumedModel } from '../setup/resumed-model.ts'
import { onStopRequest } from '../stop-signals.ts'
import { createTelemetry } from '../setup/telemetry.ts'
import { insertDroppedFiles } from './mention/dropped-files.ts'
import { promptForTrust, chooseFirstModel } from './onboarding/first-run.ts'
import { type Ui, openUi } from './ui.ts'
import { openPlainUi } from './plain-ui.ts'
import { readInputHistory, writeInputHistory } from './input/history-file.ts'
import { applyEdit } from './input/text-editor.ts'
import type { UiAction } from './input/handle-key.ts'
import { formatResumeHint, removeEmptySession, isEmptySession } from './session-end.ts'
import { editProposalInEditor, editMessageInEditor } from './edit-in-editor.ts'
import { renderSessionHistory } from './session-history.ts'
import { createUserShell } from './user-shell.ts'
import { SLASH_COMMANDS, showLastCall } from './slash/builtin-commands.ts'
import { loadCustomCommands } from './slash/custom-commands.ts'
import type { SlashCommandContext, SlashCommand } from './slash/slash-command.ts'
import { createResourceMentions, listResourceNames, createPromptCommands } from './mcp.ts'
import { createUiState, type UiState } from './ui-state.ts'
import { createRunController, type RunController } from './run-controller.ts'
import { styledLine } from './term/styled-line.ts'
import { resolveTheme } from './term/theme.ts'
import { renderBlock } from './view/frame.ts'
import { renderWelcome } from './view/welcome.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'

const SESSION_NOT_SAVED_MESSAGE = 'This session is not kept (--no-session), so that cannot be done.'

/** What Shift-Tab goes through. Asking nothing is not among them: it takes a word, so that no key too many leads there. */
const SHIFT_TAB_MODES: readonly ApprovalMode[] = ['default', 'auto_edit', 'plan']

/** What people type to leave and for help wherever they are: it is not for a model. */
const BARE_WORDS: ReadonlyMap<string, string> = new Map([
  ...['exit', 'quit', ':q', ':q!', ':wq', ':x'].map((word) => [word, '/quit'] as const),
  ...['help', '?'].map((word) => [word, '/help'] as const),
])

/** The conversation on a terminal, until the person leaves. Gives the exit code. */
export async function runInteractive(args: RunArgs): Promise<number> {
  const folder = resolveWorkFolder(args)
  const defaultTheme = resolveTheme('auto', process.env)
  await promptForTrust(folder, defaultTheme)
  const settings = readSettings(folder)
  const { config } = settings
  const theme = resolveTheme(config.theme ?? 'auto', process.env)
  const firstChoice =
    args.model ?? args.resume ?? findConfiguredModel(config) ?? (await chooseFirstModel(config, theme))
  if (firstChoice === undefined) return EXIT_CODE.ok
  if (typeof firstChoice === 'object' && 'tour' in firstChoice)
    return (await import('../command/tour/tour.ts')).runTourCommand([])
  const telemetry = createTelemetry(config.telemetry)
  const recorder = await openTrafficRecorder(args)
  const modelOptions = { recalled: findResumedModel(args), maxCost: args.maxCost, tap: recorder }
  let chosen: ChosenModel = await chooseModel(
    typeof firstChoice === 'object' ? firstChoice.model : args.model,
    config,
    modelOptions,
  )
  let mode: ApprovalMode = args.approvalMode ?? config.approvalMode ?? 'default'
  let assembled: AssembledAgent
  let agent: Agent
  let resolveExit: (code: number) => void = () => undefined
  const exited = new Promise<number>((resolve) => {
    resolveExit = resolve
  })
  const controller: RunController = createRunController(
    () => ui,
    () => agent,
    (event) => {
      telemetry?.onEvent(event)
      // An approved plan sets the mode.
      if (event.type === 'reply') refresh()
      // A command may have checked out another branch.
      if (event.type === 'run-close') void showBranch()
    },
    (name) => mentions.get(name),
  )
  const userShell = createUserShell()
  const mentions = createResourceMentions(() => assembled.mcp?.servers)

  /** Rules may have been added and removed since the start; settings that have become wrong are for the next start to complain of. */
  function reloadSettings(): Settings {
    try {
      return readSettings(folder)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      return settings
    }
  }

  async function openSession(session: Pick<RunArgs, 'resume' | 'fork' | 'takeOver'>): Promise<void> {
    const { resume: _resume, fork: _fork, takeOver: _takeOver, ...rest } = args
    assembled = await assembleAgent(
      { ...rest, ...session, approvalMode: mode },
      reloadSettings(),
      chosen.model,
      controller.onApproval,
    )
    agent = { ...assembled.agent, model: chosen.model, takeQueuedMessages: controller.takeQueued }
    recorder?.followSession(agent.session)
    // While the person reads and types there is time to connect.
    assembled.mcp?.servers.start()
  }
  await openSession({
    ...defined({ resume: args.resume }),
    ...(args.takeOver && { takeOver: true }),
    ...defined({ fork: args.fork }),
  })

  const customSlashCommands = loadCustomCommands(folder)
  const listCommands = (): SlashCommand[] => [
    ...SLASH_COMMANDS,
    ...customSlashCommands,
    ...createPromptCommands(assembled.mcp?.servers),
  ]
  const files = createProjectFiles(folder)
  const sources: CompletionSources = {
    commands: () =>
      listCommands().map(({ name, about, aliases = [] }) => ({
        value: `/${name}`,
        about,
        aliases: aliases.map((alias) => `/${alias}`),
      })),
    files: () => {
      refreshFiles()
      return [...files.paths, ...listResourceNames(assembled.mcp?.servers)]
    },
    commandArguments: (name) => argumentChoices.get(name) ?? void loadArgumentChoices(name),
  }
  /** What can stand after the names of commands; found out when one is typed, and forgotten when it is sent. */
  const argumentChoices = new Map<string, ArgumentChoices>()

  /** A name goes before an alias: a command of the person's own may have the name of one. */
  function findCommand(word: string): SlashCommand | undefined {
    const all = listCommands()
    return all.find(({ name }) => name === word) ?? all.find(({ aliases }) => aliases?.includes(word))
  }

  async function loadArgumentChoices(command: string): Promise<void> {
    const slash = findCommand(command)
    if (!slash?.choices) return
    argumentChoices.set(command, { items: [] })
    // What cannot be found out is not offered: nobody wants an error for a key.
    const find = async () => (await slash.choices?.(commandContext)) ?? []
    const items = await find().catch(() => [])
    argumentChoices.set(command, { items, ...(slash.allowsOtherValues && { allowsOthers: true }) })
    complete()
  }
  const start = createUiState(createStatus(agent!, mode, folder), {
    history: readInputHistory(folder),
    vim: config.vim ?? false,
    root: folder,
  })
  const isPlain = config.screenReader === true || process.env['TERM'] === 'dumb'
  const ui: Ui = isPlain ? openPlainUi(start, onAction) : openUi(start, theme, onAction)

  /** A session goes on with the model that it was held with. */
  async function useSessionModel(): Promise<void> {
    const sessionModel = findLastModel(agent.session.entries)
    const { provider, model } = chosen.model.origin
    if (sessionModel === undefined || sessionModel === `${provider}/${model}`) return
    const problem = await commandContext.setModel(sessionModel)
    ui.notify(
      problem === undefined
        ? `It goes on with its own model, ${sessionModel}.`
        : `It was held with ${sessionModel}, which cannot be used here: ${problem} It goes on with ${provider}/${model}.`,
      problem === undefined ? undefined : 'warn',
    )
  }

  const commandContext: SlashCommandContext = {
    ui,
    controller,
    settings,
    folder,
    agent: () => agent,
    servers: () => assembled.mcp?.servers,
    async setModel(name) {
      try {
        const previous = chosen
        chosen = await chooseModel(name, config, { maxCost: args.maxCost, tap: recorder })
        agent = { ...agent, model: chosen.model }
        assembled.useModel(chosen.model)
        await previous.close()
        refresh()
        return undefined
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        return error.message
      }
    },
    sandbox: {
      state: () => assembled.sandbox.state(),
      async setNetwork(isOpen) {
        assembled.sandbox.setNetwork(isOpen)
        await showSandbox()
      },
    },
    setMode(next) {
      agent.mode?.set(next)
      refresh()
    },
    async withSessionClosed(use) {
      if (args.noSession) return ui.notify(SESSION_NOT_SAVED_MESSAGE, 'warn')
      if (controller.isBusy) return ui.notify('The model is working; stop it first (Esc).', 'warn')
      const { id } = agent.session
      await assembled.close()
      try {
        await use(id)
      } finally {
        await openSession({ resume: id })
      }
    },
    async openSession(session) {
      if (args.noSession && (session.resume ?? session.fork) !== undefined)
        return ui.notify(SESSION_NOT_SAVED_MESSAGE, 'warn')
      if (controller.isBusy) return ui.notify('The model is working; stop it first (Esc).', 'warn')
      const previous = assembled
      try {
        // The log of a session is locked: its own session is closed before it is opened again.
        await previous.close()
        await openSession(session)
        const wasEmpty = isEmptySession(previous.agent.session)
        if (previous.agent.session.id !== agent.session.id && !args.noSession)
          removeEmptySession(previous.agent.session, folder)
        const words = describeOpenedSession(session, agent.session.id, wasEmpty)
        if (session.fork === undefined) ui.notify(words)
        ui.print(renderSessionHistory(agent.session.entries, ui.viewOptions))
        // What was said before may fill the screen: what a fork did, and another model, are told below it.
        if (session.fork !== undefined) ui.notify(words)
        if (session.resume !== undefined) await useSessionModel()
        const { branch, sandbox } = ui.state.status
        const kept = { ...defined({ branch, sandbox }) }
        ui.update((state) => ({ ...state, status: { ...createStatus(agent, mode, folder), ...kept } }))
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        ui.notify(error.message, 'bad')
        await openSession({ resume: previous.agent.session.id })
      }
    },
    async offerChoices(text) {
      const choices = await listCommands()
        .find(({ name }) => text === `/${name} `)
        ?.choices?.(commandContext)
      // Where nothing can be shown below the input, what there is stands above it.
      if (isPlain)
        return ui.print((choices ?? []).map(({ value, about = '' }) => styledLine(`${text}${value}  ${about}`)))
      ui.update((state) => ({ ...state, editor: applyEdit(state.editor, { do: 'set', text }) }))
      complete()
    },
    listCommands,
    quit: () => resolveExit(EXIT_CODE.ok),
  }

  async function showSandbox(): Promise<void> {
    const state = await assembled.sandbox.state()
    updateStatus({ sandbox: !state.isActive ? 'no sandbox' : state.network ? 'sandbox, network' : 'sandbox' })
  }

  async function showBranch(): Promise<void> {
    const branch = await readGitBranch(folder)
    ui.update((state) => {
      const { branch: _former, ...others } = state.status
      return { ...state, status: { ...others, ...defined({ branch }) } }
    })
  }

  function refresh(): void {
    mode = agent.mode?.get() ?? mode
    updateStatus(createStatus(agent, mode, folder))
  }

  function updateStatus(changes: Partial<UiState['status']>): void {
    ui.update((state) => ({ ...state, status: { ...state.status, ...changes } }))
  }

  function onAction(action: UiAction): void {
    void Promise.resolve(performAction(action)).catch((error: unknown) => ui.notify(getErrorMessage(error), 'bad'))
  }

  async function performAction(action: UiAction): Promise<void> {
    switch (action.do) {
      case 'say':
        writeInputHistory(folder, ui.state.history)
        return handleInput(action.text)
      case 'answer':
        return controller.answer({
          ask: action.ask,
          outcome: action.outcome,
          ...defined({ words: action.words, grant: action.grant }),
          ...(action.scope && { scope: action.scope }),
          ...(action.access && { access: action.access }),
        })
      case 'modify': {
        const asked = controller.findApproval(action.ask)
        const reply = asked && (await editProposalInEditor(ui, asked, agent, config.editor))
        return reply && controller.answer(reply)
      }
      case 'stop':
        userShell.stop()
        return controller.stop()
      case 'quit':
        return resolveExit(EXIT_CODE.ok)
      case 'details':
        return showLastCall(commandContext)
      case 'editor':
        return editMessageInEditor(ui, config.editor)
      case 'next-mode':
        return commandContext.setMode(
          SHIFT_TAB_MODES[(SHIFT_TAB_MODES.indexOf(mode) + 1) % SHIFT_TAB_MODES.length] ?? 'default',
        )
      case 'redraw':
        return ui.redraw()
      case 'suspend':
        return ui.suspendFor(suspendProcess)
      case 'complete':
        return complete()
      case 'pasted':
        return ui.update((state) => ({ ...state, editor: insertDroppedFiles(state.editor, action.text, folder) }))
      default:
        return ui.update((state) => ({
          ...state,
          hint: 'Name a picture with @ (@shot.png), or drop its file here.',
        }))
    }
  }

  /** Files come and go while the model works: what an @ offers is found out when it is typed. */
  function refreshFiles(): void {
    void files.refresh().then((hasChanged) => hasChanged && complete())
  }

  function complete(): void {
    ui.update((state) => {
      const menu = findCompletions(state.editor, sources)
      const { menu: previous, ...rest } = state
      if (!menu) return rest
      // What the person has gone to stays chosen when there is more to choose from.
      const at = menu.items.findIndex(({ value }) => value === previous?.items[previous.selected]?.value)
      return { ...rest, menu: { ...menu, selected: Math.max(at, 0) } }
    })
  }

  function describeUnknownCommand(name: string): string {
    const names = listCommands().flatMap((one) => [one.name, ...(one.aliases ?? [])])
    const near = nearestNames(name, names).map((one) => `/${one}`)
    const next = near.length === 0 ? '/help shows what there is.' : `did you mean ${near.slice(0, 3).join(' or ')}?`
    return `There is no /${name}; ${next}`
  }

  async function handleInput(text: string): Promise<void> {
    argumentChoices.clear()
    if (userShell.isBusy) {
      ui.update((state) => ({ ...state, editor: applyEdit(state.editor, { do: 'set', text }) }))
      return ui.notify('Your command is running; stop it first (Esc).', 'warn')
    }
    if (text.startsWith('!') && controller.isBusy)
      return ui.notify('The model is working; stop it first (Esc).', 'warn')
    if (text.startsWith('!')) return userShell.run(commandContext, text.slice(1).trim()).then(showBranch)
    const command = /^\/(?<name>[\w:-]+)(?:\s+(?<words>[^]*))?$/.exec(BARE_WORDS.get(text.trim()) ?? text)?.groups
    if (!command) {
      await mentions.load(text)
      for (const problem of findAttachmentProblems(text, folder, (name) => mentions.get(name))) ui.notify(problem)
      return controller.submit(text)
    }
    const found = findCommand(command['name'] ?? '')
    if (!found) return ui.notify(describeUnknownCommand(command['name'] ?? ''), 'warn')
    ui.print(renderBlock({ kind: 'user', text }, ui.viewOptions, 0))
    await found.run(commandContext, command['words']?.trim() ?? '')
  }

  ui.print(renderWelcome(ui.state.status, [...(chosen.notices ?? []), ...assembled!.notices], ui.viewOptions))
  if ((args.resume ?? args.fork) !== undefined) ui.print(renderSessionHistory(agent!.session.entries, ui.viewOptions))
  void showBranch()
  void showSandbox()
  refreshFiles()
  if (args.prompt !== undefined) controller.submit(args.prompt)
  else if (agent!.session.pendingCalls.length > 0) controller.resume()

  const stopListening = onStopRequest(() => resolveExit(EXIT_CODE.interrupted))
  const code = await exited
  stopListening()
  controller.stop()
  userShell.stop()
  await Promise.all([controller.waitForEnd(), userShell.waitForEnd()])
  if (!isEmptySession(agent!.session) && !args.noSession) ui.notify(formatResumeHint(agent!.session, args.cwd))
  ui.close()
  recorder?.close()
  await assembled!.close()
  if (!args.noSession) removeEmptySession(agent!.session, folder)
  await chosen.close()
  const deliveryProblem = await telemetry?.close()
  if (deliveryProblem !== undefined) process.stderr.write(`dragoman: ${deliveryProblem}\n`)
  return code
}

/** Stops until the shell brings us back; where no shell waits, the system ignores it, and we go on. */
async function suspendProcess(): Promise<void> {
  // All of our process group: whoever started us (npm) must stop too, or the shell sees nothing of it.
  process.kill(0, 'SIGTSTP')
  await new Promise((resolve) => setTimeout(resolve, 100))
}

/** What to say of a session that is open now. */
function describeOpenedSession(
  { resume, fork }: Pick<RunArgs, 'resume' | 'fork'>,
  id: string,
  wasEmpty: boolean,
): string {
  if (fork !== undefined)
    return `Forked from ${fork}. This is ${id}, a new session with all that was said so far; the other is kept as it is: /resume ${fork}`
  if (resume !== undefined) return `Session ${id}.`
  return wasEmpty ? 'New session.' : 'New session; the old one is kept: /resume'
}

function createStatus(agent: Agent, mode: ApprovalMode, folder: string): UiState['status'] {
  const { provider, model } = agent.model.origin
  return {
    model: `${provider}/${model}`,
    mode,
    folder: abbreviateHome(folder),
    ...defined({ window: agent.model.window }),
  }
}

function readGitBranch(folder: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile('git', ['symbolic-ref', '--short', 'HEAD'], { cwd: folder }, (error, out) =>
      resolve(error ? undefined : out.trim()),
    )
  })
}
