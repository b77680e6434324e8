import { randomBytes } from 'node:crypto'
import { defined } from '../../model/defined.ts'
import { createTurnKey } from '../../model/ids.ts'
import { isObject } from '../../model/json.ts'
import { lazy } from '../../model/lazy.ts'
import type { UserTurn } from '../../model/turn.ts'
import { type Session, resumeSession } from '../../session/session.ts'
import { memoryStore } from '../../session/store/memory-store.ts'
import { type SessionLog, type Store, StoreError } from '../../session/store/store.ts'
import type { Toolbox } from '../../tool/toolbox.ts'
import type { Schema } from '../../tool/infer-schema.ts'
import type { AgentContext } from '../agent-context.ts'
import { compactHistory } from '../history/compact.ts'
import { callHook } from '../hooks/call-hook.ts'
import type { RunEvent } from '../loop/run-event.ts'
import type { AgentOptions, InputPart, RunOptions } from './agent-options.ts'
import { createSharedContext, toOutputSpec, toRequestSettings } from './agent-settings.ts'
import { findPendingApprovals, isApproved, toRequestApproval } from './approvals.ts'
import { toUserParts } from './input-parts.ts'
import { type Agent, AgentBusyError, type InferOutput } from './library-agent.ts'
import { createModelOpener } from './open-model.ts'
import { type Run, startRun } from './run-handle.ts'
import { runTraced } from './traced-run.ts'
import { createAgentTool, createHandoffTool, type InheritedContext } from './subagent.ts'

/** Creates an agent. Throws if the model is unknown or its key is missing; the session is opened by the first run. */
export function agent<const Output extends Schema | undefined = undefined>(
  options: AgentOptions<Output>,
): Agent<InferOutput<Output>> {
  assertModel(isObject(options) ? options['model'] : undefined)
  const store = options.store ?? memoryStore()
  const id = options.session ?? createId()
  return createAgent({ ...options, store }, id, () => openSession(store, id, options))
}

/** An agent on a log that is opened elsewhere, with what its server adds to each run. */
export function createAgentOnLog(
  options: AgentOptions<Schema | undefined> & { readonly store: Store },
  log: SessionLog,
  inherited: InheritedContext,
): Agent<unknown> {
  // If it is lost, only who opened it may open it again: others may not write to the session meanwhile.
  return createAgent(
    options,
    log.id,
    () => log,
    inherited,
    () => log,
  )
}

const createId = (): string => createTurnKey(randomBytes(20))

async function openSession(store: Store, id: string, options: AgentOptions<Schema | undefined>): Promise<SessionLog> {
  const create = () => store.create({ id, folder: options.folders?.[0] ?? '' })
  if (options.session === undefined) return create()
  try {
    return await store.open(id)
  } catch (error) {
    if (!options.createIfMissing || !(error instanceof StoreError) || error.code !== 'not-found') throw error
    return create()
  }
}

/** Creates the run of an agent on the session of another one. */
type ContextFactory = (session: Session, options: RunOptions<Schema | undefined>) => AgentContext

const contextFactories = new WeakMap<object, ContextFactory>()

function createAgent<Output>(
  options: AgentOptions<Schema | undefined> & { readonly store: Store },
  id: string,
  openLog: () => SessionLog | Promise<SessionLog>,
  inherited: InheritedContext = {},
  reopenLog = (): SessionLog | Promise<SessionLog> => options.store.open(id),
): Agent<Output> {
  const { store, name = 'agent', description = '' } = options
  const opener = createModelOpener(options.limits?.cost, inherited.limitModel)
  const defaultModel = opener.open(options.model)
  let handoffTarget: Agent<unknown> | undefined
  // One toolbox for all runs: by its specs, the next request finds what is encoded already.
  const shared = lazy(() => {
    const handoffTools = (options.handoffs ?? []).map((one) =>
      createHandoffTool(one.name, one.description, () => (handoffTarget = one)),
    )
    const { toolbox, describeEnvironment } = inherited
    return { ...createSharedContext(options, handoffTools, createId), ...defined({ toolbox, describeEnvironment }) }
  })
  if (options.output) toOutputSpec(options.output)
  const queue: UserTurn['parts'][] = []
  let session: Promise<Session> | undefined
  let current: Run<unknown> | undefined
  let isClosed = false

  /** A session that could not be opened can be tried again. */
  function getSession(): Promise<Session> {
    if (isClosed) return Promise.reject(new Error(CLOSED_MESSAGE))
    session ??= (async () => {
      const log = await openLog()
      openLog = reopenLog
      return resumeSession(log, { isSafeToRetry: ({ name: tool }) => isSafeToRetry(shared().toolbox, tool) })
    })().catch((error: unknown) => {
      session = undefined
      throw error
    })
    return session
  }

  /** A session that was lost while nothing ran is opened again, unless another process has it. */
  async function reopenIfLost(): Promise<Session> {
    const opened = await getSession()
    if (!opened.lost.aborted || isClosed) return opened
    session = undefined
    await opened.close()
    return getSession()
  }

  const createRunContext: ContextFactory = (opened, runOptions) => {
    const { model, limits, onApproval = options.onApproval } = runOptions
    handoffTarget = undefined
    return {
      ...shared(),
      session: opened,
      model: model === undefined ? defaultModel : opener.open(model),
      catalog: opener.catalog,
      limitModel: opener.limit,
      ...toRequestSettings({ ...options, ...defined(runOptions) }),
      limits: { ...options.limits, ...limits },
      requestApproval: (!onApproval && inherited.requestApproval) || toRequestApproval(onApproval),
      takeQueuedMessages: () => queue.splice(0),
      ...defined({ canRetryLater: inherited.canRetryLater }),
      takeHandoff() {
        const next = handoffTarget
        handoffTarget = undefined
        const agentContext = next && contextFactories.get(next)?.(opened, defined({ onApproval, limits }))
        // The cost limit of the agent that was asked still applies.
        return agentContext && { name: next.name, agent: { ...agentContext, model: opener.limit(agentContext.model) } }
      },
    }
  }

  function start(input: UserTurn['parts'] | undefined, runOptions: RunOptions<Schema | undefined> = {}): Run<never> {
    if (current)
      throw new AgentBusyError(
        'This agent is working on another prompt. Wait for it, send it a message with send(), or create a second agent.',
      )
    const events = async function* (signal: AbortSignal): AsyncGenerator<RunEvent> {
      try {
        const opened = await reopenIfLost()
        if (!input && !canResume(opened)) throw new Error('There is nothing to resume: the last run has ended.')
        const parts = input && [...queue.splice(0).flat(), ...input]
        yield* runTraced(createRunContext(opened, runOptions), parts, signal, options.telemetry)
      } finally {
        current = undefined
      }
    }
    const started = startRun<never>(id, runOptions.signal, events)
    current = started
    return started
  }

  const made: Agent<Output> = {
    session: id,
    name,
    description,
    get history() {
      return getSession().then(({ turns }) => [...turns])
    },
    get pending() {
      return getSession().then(findPendingApprovals)
    },
    run: (input: string | readonly InputPart[], runOptions?: RunOptions<Schema | undefined>) =>
      start(toUserParts(input), runOptions),
    resume: (runOptions) => start(undefined, runOptions),
    send: (message) => void queue.push(toUserParts(message)),
    async reply(ask, answer) {
      const opened = await reopenIfLost()
      if (!findPendingApprovals(opened).some((one) => one.id === ask))
        throw new Error(`The session ${id} has no open request for approval ${ask}.`)
      const { message, ...decision } = typeof answer === 'boolean' ? { approved: answer, message: undefined } : answer
      const outcome = isApproved(decision) ? 'proceed-once' : 'cancel'
      opened.append({ kind: 'reply', ask, outcome, ...defined({ words: message }) })
      await opened.flush()
    },
    async compact({ signal = new AbortController().signal } = {}) {
      if (current) throw new AgentBusyError('The history cannot be compacted during a run.')
      const opened = await getSession()
      const prompt = `${id}#compress`
      let isDone = false
      const context = createRunContext(opened, {})
      const before = await callHook(context, 'preCompact', { trigger: 'manual' }, signal, () => undefined)
      if (before?.block) return false
      for await (const event of compactHistory(context, prompt, signal))
        if (event.type === 'compact') isDone = event.done
      // Otherwise the session would count as interrupted.
      opened.append({ kind: 'close', prompt, reason: 'done' })
      await opened.flush()
      return isDone
    },
    async fork() {
      const opened = await getSession()
      const parent = { session: id, seq: opened.entries.at(-1)?.seq ?? 0 }
      await opened.flush()
      const forkId = createId()
      const log = await store.create({ id: forkId, folder: opened.folder, parent })
      return createAgent(options, forkId, () => log)
    },
    asTool: (as = {}) =>
      createAgentTool(as.name ?? name, as.description ?? description, (fromParent, subagent) => {
        const childId = createId()
        return createAgent(
          options,
          childId,
          () => store.create({ id: childId, folder: options.folders?.[0] ?? '', ...defined({ subagent }) }),
          fromParent,
        )
      }),
    async close() {
      const running = current
      running?.cancel()
      await running?.then(undefined, () => undefined)
      const opened = await session?.catch(() => undefined)
      if (opened && !isClosed)
        await callHook({ ...shared(), session: opened }, 'sessionEnd', { reason: 'other' }, NEVER, () => undefined)
      isClosed = true
      await opened?.close()
    },
  }
  contextFactories.set(made, createRunContext)
  return made
}

function isSafeToRetry(toolbox: Toolbox, name: string): boolean {
  const found = toolbox.find(name)
  return 'tool' in found && found.tool.safeToRetry === true
}

/** Is a call waiting, or was the last run interrupted? */
function canResume({ entries, pendingCalls }: Session): boolean {
  return pendingCalls.length > 0 || entries.findLast(({ kind }) => kind === 'user' || kind === 'close')?.kind === 'user'
}

const NEVER = new AbortController().signal

const CLOSED_MESSAGE = 'This agent is closed. Create another one with the id of its session.'

/** Programs without types may pass anything. */
function assertModel(model: unknown): void {
  if ((typeof model === 'string' && model !== '') || (isObject(model) && typeof model['stream'] === 'function')) return
  throw new TypeError('agent() needs a model: agent({ model: "provider/model" }), or a Model with a stream() method.')
}
