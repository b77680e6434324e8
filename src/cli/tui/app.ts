import type { RunEvent } from '../../agent/loop/run-event.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'
import type { RunArgs } from '../args/run-args.ts'
import { closeRun, openRunResources } from '../setup/run-resources.ts'
import { onStopRequest } from '../stop-signals.ts'
import { EXIT_CODE } from '../user-error.ts'
import { openActiveSession, type ActiveSession } from './active-session.ts'
import type { AppParts } from './app-parts.ts'
import { createCompleter } from './input/completer.ts'
import type { UiAction } from './input/handle-key.ts'
import { readInputHistory } from './input/input-history-file.ts'
import { createResourceMentions } from './mcp-prompts-and-resources.ts'
import { performAction } from './perform-action.ts'
import { openPlainUi } from './plain-ui.ts'
import { createRunController } from './run-controller.ts'
import { formatKeptCommands, formatResumeHint, isEmptySession, removeEmptySession } from '../session-end.ts'
import { renderSessionHistory } from './session-history.ts'
import { createSlashCommandList } from './slash/command-list.ts'
import { prepareStart, type PreparedStart } from './onboarding/prepare-start.ts'
import { createStatus, createStatusUpdates } from './status-updates.ts'
import { createTerminalSignals, type TerminalSignals } from './terminal-signals.ts'
import { openUi, type Ui } from './ui.ts'
import { createUiState } from './ui-state.ts'
import { createUserShell } from './user-shell.ts'
import { renderWelcome } from './view/welcome.ts'

/** Runs a conversation on the terminal until the user leaves, and returns the exit code. */
export async function runInteractive(args: RunArgs): Promise<number> {
  const start = await prepareStart(args)
  if ('exitCode' in start) return start.exitCode
  const app = await openApp(args, start)
  showFirstScreen(app)
  const stopListening = onStopRequest(() => app.exit(EXIT_CODE.interrupted))
  const code = await app.exited
  stopListening()
  await closeApp(app)
  return code
}

/** Creates the parts of the front end. They refer to each other through functions that are called only later. */
async function openApp(args: RunArgs, start: PreparedStart): Promise<AppParts> {
  const { folder, settings } = start
  const resources = await openRunResources(args, settings, start.model)
  const controller = createRunController({
    ui: () => ui,
    agent: () => session.agent,
    onEvent: (event) => onRunEvent(app, event),
    resolveMention: (name) => mentions.get(name),
  })
  const session: ActiveSession = await openActiveSession(args, { folder, settings, resources, controller }).catch(
    async (error: unknown) => {
      await closeRun(resources)
      throw error
    },
  )
  const mentions = createResourceMentions(() => session.servers)
  const openCustomStatus = await loadCustomStatus(start)
  // From here on nothing is awaited: keys may come, and they need all parts.
  const signals = openSignals(start)
  const ui = openFrontEnd(start, session, (action) => onAction(app, action))
  const status = createStatusUpdates(ui, session, folder)
  const commands = createSlashCommandList(folder, session)
  const completer = createCompleter({ ui, folder, session, commands, app: () => app })
  let exit: (code: number) => void = () => undefined
  const exited = new Promise<number>((resolve) => {
    exit = resolve
  })
  const userShell = createUserShell()
  const parts = { args, folder, settings, ui, session, controller, userShell, mentions, status, commands, completer }
  const customStatus = openCustomStatus?.(parts)
  const app: AppParts = { ...parts, exit, exited, ...defined({ signals, customStatus }) }
  return app
}

/** The title and notifications of the terminal. */
function openSignals({ folder, settings: { config } }: PreparedStart): TerminalSignals | undefined {
  if (isPlainTerminal(config)) return undefined
  return createTerminalSignals({
    folder,
    method: config.notifications ?? 'auto',
    hasTitle: config.terminalTitle ?? true,
    write: (text) => void process.stdout.write(text),
    env: process.env,
    now: Date.now,
  })
}

/** A status line of the user's own, if the settings name a command for it. */
async function loadCustomStatus({ folder, settings: { config } }: PreparedStart) {
  const { statusLine: command } = config
  if (command === undefined) return undefined
  const { createCustomStatusLine } = await import('./custom-status-line.ts')
  return ({ ui, session }: Pick<AppParts, 'ui' | 'session'>) => {
    const line = createCustomStatusLine({
      command,
      folder,
      getStatus: () => ui.state.status,
      getSession: () => session.agent.session.id,
      show: (custom) =>
        ui.update(({ status: { custom: _previous, ...status }, ...state }) => ({
          ...state,
          status: { ...status, ...defined({ custom }) },
        })),
    })
    void line.refresh()
    return line
  }
}

/** Screen readers and simple terminals get plain lines. */
function openFrontEnd(
  { folder, settings: { config }, theme }: PreparedStart,
  session: ActiveSession,
  act: (action: UiAction) => void,
): Ui {
  const state = createUiState(createStatus(session, folder), {
    history: readInputHistory(folder),
    vim: config.vim ?? false,
    root: folder,
  })
  return isPlainTerminal(config) ? openPlainUi(state, act) : openUi(state, theme, act)
}

function isPlainTerminal({ screenReader }: PreparedStart['settings']['config']): boolean {
  return screenReader === true || process.env['TERM'] === 'dumb'
}

function onRunEvent({ session, status, signals, customStatus }: AppParts, event: RunEvent): void {
  if (event.type === 'run-open') signals?.setState('working')
  if (event.type === 'ask') {
    signals?.setState('waiting')
    signals?.notify('an approval waits for you')
  }
  if (event.type === 'reply') signals?.setState('working')
  if (event.type === 'run-close') {
    signals?.setState('idle')
    signals?.notify(event.reason === 'done' ? 'the answer is there' : `the run ended: ${event.reason}`)
  }
  if (event.type === 'run-close' || event.type === 'reply' || event.type === 'budget') void customStatus?.refresh()
  session.resources.telemetry?.onEvent(event)
  // An approved plan sets the mode.
  if (event.type === 'reply') status.refresh()
  // A command may have checked out another branch.
  if (event.type === 'run-close') status.refreshBranch()
}

function onAction(app: AppParts, action: UiAction): void {
  app.signals?.onKey()
  void performAction(app, action).catch((error: unknown) => app.ui.notify(getErrorMessage(error), 'bad'))
}

function showFirstScreen(app: AppParts): void {
  const { args, ui, session, controller, status, commands } = app
  ui.print(renderWelcome(ui.state.status, session.notices, ui.viewOptions))
  const { entries, pendingCalls } = session.agent.session
  if ((args.resume ?? args.fork) !== undefined) ui.print(renderSessionHistory(entries, ui.viewOptions))
  status.refreshBranch()
  void status.refreshSandbox()
  if (args.prompt?.startsWith('/') && commands.find(/^\/([\w.:-]+)/.exec(args.prompt)?.[1] ?? ''))
    onAction(app, { do: 'submit', text: args.prompt })
  else if (args.prompt !== undefined) controller.submit(args.prompt)
  else if (pendingCalls.length > 0) controller.resume()
}

async function closeApp({ args, folder, ui, session, controller, userShell, signals }: AppParts): Promise<void> {
  controller.leave()
  userShell.stop()
  await Promise.all([controller.waitForEnd(), userShell.waitForEnd()])
  const { agent } = session
  if (!isEmptySession(agent.session) && !args.noSession) ui.notify(formatResumeHint(agent.session, args.cwd))
  const kept = formatKeptCommands(session.listKeptCommands())
  if (kept !== '') ui.notify(kept)
  signals?.close()
  ui.close()
  await session.close()
  if (!args.noSession) await removeEmptySession(agent.session, folder)
}
