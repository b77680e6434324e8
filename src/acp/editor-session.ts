import type { ApprovalReply, ApprovalRequest } from '../agent/calls/call-state.ts'
import { compactHistory } from '../agent/history/compact.ts'
import type { CloseReason, RunEvent } from '../agent/loop/run-event.ts'
import { run } from '../agent/loop/run.ts'
import { getErrorMessage } from '../model/error-message.ts'
import type { CallPart } from '../model/turn.ts'
import type { Connection } from './connection.ts'
import { type PromptInput, toPromptInput } from './prompt-content.ts'
import type {
  ClientCapabilities,
  ContentBlock,
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
  StopReason,
} from './protocol.ts'
import { invalidParams } from './read-params.ts'
import { replaySession } from './replay-session.ts'
import { requestAnswer } from './request-answer.ts'
import { createConfigOptions, createModeState, OPTION, parseEffortValue, parseMode } from './session-options.ts'
import { createSessionStatus } from './session-status.ts'
import { createSessionUpdates } from './session-updates.ts'
import type { CommandOutcome, EditorCommand, OpenedSession } from './setup.ts'
import { STOP_REASONS } from './stop-reasons.ts'

export type EditorSession = ReturnType<typeof createEditorSession>

interface EditorSessionOptions {
  readonly connection: Connection
  readonly client: ClientCapabilities
  readonly log: (message: string) => void
}

/** A session in an editor: one run at a time; prompts that come meanwhile wait for its end. */
export function createEditorSession({ connection, client, log }: EditorSessionOptions) {
  let opened: OpenedSession | undefined
  let models: readonly string[] = []
  let shownMode = ''
  let stop: AbortController | undefined
  let isLeaving = false
  /** Prompts from before a cancellation do not start any more. */
  let cancelCount = 0
  let lastRun: Promise<unknown> = Promise.resolve()
  const executingCalls = new Set<string>()
  /** Ends the wait for an answer without one: the question stays open in the log. */
  const openQuestions = new Set<AbortController>()
  let hasLeftQuestion = false
  const getOpened = (): OpenedSession => {
    if (!opened) throw new Error('The session is not open yet.')
    return opened
  }
  const getAgent = () => getOpened().agent
  const getId = () => getAgent().session.id
  const send = (update: SessionUpdate): void => connection.notify('session/update', { sessionId: getId(), update })
  const updates = createSessionUpdates({ send, agent: getAgent, client })
  const status = createSessionStatus({ send, getOpened, log })

  async function requestApproval(ask: ApprovalRequest, signal: AbortSignal): Promise<ApprovalReply | undefined> {
    const refusal: ApprovalReply = { ask: ask.id, outcome: 'cancel' }
    const left = new AbortController()
    openQuestions.add(left)
    const { session, toolbox } = getAgent()
    const call = session.pendingCalls.find((open) => open.call.id === ask.call)?.call
    const answerSignal = AbortSignal.any([signal, left.signal])
    try {
      const answer = await requestAnswer(ask, {
        sessionId: session.id,
        client,
        toolbox,
        call,
        view: call && updates.getView(call),
        request: (method, params) => connection.request(method, params, answerSignal),
      })
      if (answer !== 'cancelled') return answer && { ask: ask.id, ...answer }
      // The client answers so when the user cancels the whole prompt.
      cancel()
      return refusal
    } catch (error) {
      if (left.signal.aborted || connection.isClosed) {
        hasLeftQuestion = true
        return undefined
      }
      if (signal.aborted) return refusal
      updates.notify(`The editor could not ask for approval: ${getErrorMessage(error)}`, 'warning')
      return undefined
    } finally {
      openQuestions.delete(left)
    }
  }

  function onRunEvent(event: RunEvent): void {
    const { session } = getAgent()
    getOpened().onEvent(event)
    updates.onEvent(event)
    if (event.type === 'call') {
      if (event.call.status === 'executing') executingCalls.add(event.call.call.id)
      else executingCalls.delete(event.call.call.id)
    }
    if (event.type === 'entry' && event.entry.kind === 'turn') status.queueUsage()
    if (event.type === 'entry' && event.entry.kind === 'user') status.sendInfo()
    // An approved plan sets the mode.
    if (event.type === 'reply' || (event.type === 'call' && getMode() !== shownMode)) sendModeIfChanged()
    if (event.type === 'run-close') {
      const problem = event.reason === 'cancelled' ? undefined : getOpened().describeProblem(event)
      if (problem !== undefined) updates.say(problem)
      log(`session ${session.id}: the run ended (${event.reason})`)
    }
  }

  const getMode = () => getAgent().mode?.get() ?? 'default'

  function sendModeIfChanged(): void {
    if (getMode() === shownMode) return
    shownMode = getMode()
    send({ sessionUpdate: 'current_mode_update', currentModeId: shownMode })
    send({ sessionUpdate: 'config_option_update', configOptions: listOptions() })
  }

  function listOptions(): SessionConfigOption[] {
    const { model } = getAgent()
    const name = `${model.origin.provider}/${model.origin.model}`
    return createConfigOptions({ mode: getMode(), model: name, effort: getOpened().effort, models })
  }

  /** Every prompt ends with exactly one reason, whatever happens. */
  async function execute(work: (signal: AbortSignal) => AsyncIterable<RunEvent>): Promise<StopReason> {
    const controller = new AbortController()
    stop = controller
    hasLeftQuestion = false
    let reason: CloseReason = 'done'
    try {
      for await (const event of work(controller.signal)) {
        onRunEvent(event)
        if (event.type === 'run-close') reason = event.reason
      }
    } catch (error) {
      log(error instanceof Error ? (error.stack ?? error.message) : String(error))
      updates.say(`Internal error: ${getErrorMessage(error)}`)
    } finally {
      stop = undefined
      executingCalls.clear()
      await status.waitForUsage()
    }
    return controller.signal.aborted ? 'cancelled' : STOP_REASONS[reason]
  }

  /** Runs one after the other. A question that only waits makes way: its call is then interrupted by the new prompt. */
  function enqueue(work: () => Promise<StopReason>): Promise<StopReason> {
    const cancelledBefore = cancelCount
    if (executingCalls.size === 0) for (const question of openQuestions) question.abort()
    const next = lastRun.then(() => (cancelCount > cancelledBefore || isLeaving ? 'cancelled' : work()))
    lastRun = next.catch(() => undefined)
    return next
  }

  function cancel(): void {
    cancelCount++
    stop?.abort()
  }

  async function runPrompt(input: PromptInput): Promise<StopReason> {
    const [, name, words = ''] = /^\/([\w:.-]+)(?:\s+([^]*))?$/.exec(input.typedText.trim()) ?? []
    const command =
      name === undefined
        ? undefined
        : getOpened()
            .listCommands()
            .find((one) => one.name === name)
    if (!command) return execute((signal) => run(getAgent(), input.parts, signal, input.typedText))
    const outcome = await prepareCommand(command, words.trim())
    if (outcome === 'cancelled') return outcome
    if ('compacts' in outcome) return execute(compact)
    if ('prompt' in outcome) {
      const parts = [{ kind: 'text', text: outcome.prompt } as const, ...input.parts.slice(1)]
      return execute((signal) => run(getAgent(), parts, signal))
    }
    if ('parts' in outcome) {
      for (const remark of outcome.remarks) updates.notify(remark, 'warning')
      return execute((signal) => run(getAgent(), [...outcome.parts, ...input.parts.slice(1)], signal, outcome.ownText))
    }
    updates.say(outcome.text)
    sendModeIfChanged()
    return 'end_turn'
  }

  /** A custom command may run shell commands for its prompt, which can be cancelled like a run. */
  async function prepareCommand(command: EditorCommand, words: string): Promise<CommandOutcome | 'cancelled'> {
    const controller = new AbortController()
    stop = controller
    try {
      const outcome = await command.run(words, controller.signal)
      return controller.signal.aborted ? 'cancelled' : outcome
    } catch (error) {
      log(error instanceof Error ? (error.stack ?? error.message) : String(error))
      return { text: `/${command.name} failed: ${getErrorMessage(error)}` }
    } finally {
      stop = undefined
    }
  }

  async function* compact(signal: AbortSignal): AsyncGenerator<RunEvent> {
    const agent = getAgent()
    const prompt = `${agent.session.id}#compress`
    yield* compactHistory(agent, prompt, signal)
    // Otherwise the list of sessions would call this one unfinished.
    agent.session.append({ kind: 'close', prompt, reason: 'done' })
  }

  return {
    requestApproval,
    onTerminal: (command: string, terminalId: string) => updates.onTerminal(command, terminalId),
    get id() {
      return getId()
    },
    /** Aborts when the user cancels what runs now. */
    get runSignal() {
      return stop?.signal
    },
    /** The session was opened: from here on it can be used. */
    attach(session: OpenedSession): void {
      opened = session
      shownMode = getMode()
    },
    describe: (): { modes: SessionModeState; configOptions: SessionConfigOption[] } => ({
      modes: createModeState(getMode()),
      configOptions: listOptions(),
    }),
    replay(): void {
      const { session, toolbox } = getAgent()
      const getToolName = ({ name }: CallPart): string => {
        const found = toolbox.find(name)
        return 'tool' in found ? found.tool.spec.name : name
      }
      for (const update of replaySession(session.entries, { client, getView: updates.getView, getToolName }))
        send(update)
    },
    /** What the client should know once it has the session. */
    async announce(): Promise<void> {
      const availableCommands = getOpened()
        .listCommands()
        .map(({ name, about, takes }) => ({
          name,
          description: about,
          ...(takes !== undefined && { input: { hint: takes } }),
        }))
      send({ sessionUpdate: 'available_commands_update', availableCommands })
      for (const notice of getOpened().notices) updates.notify(notice)
      models = await getOpened()
        .listModels()
        .catch(() => [])
      if (models.length > 0 && !isLeaving) send({ sessionUpdate: 'config_option_update', configOptions: listOptions() })
    },
    /** Asks again what was not answered when the session was left, and continues with the answer. */
    resumePendingCalls(): void {
      if (getAgent().session.pendingCalls.length > 0)
        void enqueue(() => execute((signal) => run(getAgent(), undefined, signal)))
    },
    prompt: (blocks: readonly ContentBlock[]) => enqueue(() => runPrompt(toPromptInput(blocks))),
    cancel,
    setMode(value: unknown): void {
      const mode = parseMode(value)
      if (!mode) throw invalidParams(`There is no mode ${String(value)}.`)
      getAgent().mode?.set(mode)
      sendModeIfChanged()
    },
    async setOption(id: unknown, value: unknown): Promise<SessionConfigOption[]> {
      if (id === OPTION.mode) this.setMode(value)
      else if (id === OPTION.model) await getOpened().setModel(String(value))
      else if (id === OPTION.effort) {
        const effort = parseEffortValue(value)
        if (effort === null) throw invalidParams(`There is no effort ${String(value)}.`)
        getOpened().setEffort(effort)
      } else throw invalidParams(`There is no option ${String(id)}.`)
      return listOptions()
    },
    /** Ends the run and closes the session. A question that only waits stays open in the log for the next time. */
    async close(): Promise<void> {
      isLeaving = true
      const isOnlyWaiting = executingCalls.size === 0 && (openQuestions.size > 0 || hasLeftQuestion)
      if (!isOnlyWaiting) cancel()
      else for (const question of openQuestions) question.abort()
      await lastRun
      await opened?.close()
    },
  }
}
