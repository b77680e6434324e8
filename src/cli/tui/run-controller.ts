import type { AgentContext } from '../../agent/agent-context.ts'
import type { ApprovalRequest, ApprovalReply } from '../../agent/calls/call-state.ts'
import { countContextTokens } from '../../agent/history/compact.ts'
import { run } from '../../agent/loop/run.ts'
import type { RunEvent } from '../../agent/loop/run-event.ts'
import { defined } from '../../model/defined.ts'
import type { UserTurn } from '../../model/turn.ts'
import { type ResumeAdvice, describeRunProblem } from '../output/describe-run.ts'
import { attachMentionedFiles } from './mention/attachments.ts'
import { addBlock, applyRunEvent } from './conversation-state.ts'
import { FIRST_FRAME_CHARS, fitFrameChars } from './frame.ts'
import type { Ui } from './ui.ts'
import { type StatusInfo, type UiState, addApprovalRequest, removeApprovalRequest } from './ui-state.ts'

export type RunController = ReturnType<typeof createRunController>

/** For commands that need the session for themselves. */
export const BUSY_MESSAGE = 'The model is working; stop it first (Esc).'

/** After so many milliseconds of events keys are handled. */
const YIELD_INTERVAL_MS = 2

interface RunControllerOptions {
  readonly ui: () => Ui
  /** Called for each run: the model may have changed. */
  readonly agent: () => AgentContext
  readonly onEvent: (event: RunEvent) => void
  readonly resolveMention: (name: string) => UserTurn['parts'] | undefined
}

/** Runs the agent: one run at a time, with the approvals that wait for the user and the messages that wait for the model. */
export function createRunController({ ui, agent, onEvent, resolveMention }: RunControllerOptions) {
  const pendingApprovals = new Map<string, { ask: ApprovalRequest; reply: (reply?: ApprovalReply) => void }>()
  const executingCalls = new Set<string>()
  let stop: AbortController | undefined
  let running: Promise<void> = Promise.resolve()
  let isLeaving = false
  let frameChars = FIRST_FRAME_CHARS

  async function executeRun(userParts: UserTurn['parts'] | undefined, userText?: string): Promise<void> {
    stop = new AbortController()
    ui().update((state) => ({ ...state, runningSince: Date.now() }))
    try {
      await showEvents(run(agent(), userParts, stop.signal, userText))
    } catch (error) {
      const details = error instanceof Error ? (error.stack ?? error.message) : String(error)
      ui().notify(`Internal error: ${details}`, 'bad')
    } finally {
      stop = undefined
      ui().update(({ runningSince: _unused, ...state }) => state)
    }
    const next = isLeaving ? [] : takeQueued()
    if (next.length > 0) await executeRun(next.flat())
  }

  /** Even if text arrives faster than it can be drawn, keys must be handled. */
  async function showEvents(events: AsyncIterable<RunEvent>): Promise<void> {
    let lastYieldAt = performance.now()
    let newChars = 0
    for await (const event of events) {
      onEvent(event)
      if (event.type === 'call') {
        if (event.call.status === 'executing') executingCalls.add(event.call.call.id)
        else executingCalls.delete(event.call.call.id)
      }
      for (const part of splitDelta(event, frameChars)) {
        ui().update((state) => reduceState(state, part, agent()))
        newChars += deltaLength(part)
        if (newChars >= frameChars && newChars > countOpenChars(ui().state) / 2) {
          const startedAt = performance.now()
          ui().flush()
          frameChars = fitFrameChars(frameChars, performance.now() - startedAt)
          newChars = 0
        } else if (performance.now() - lastYieldAt <= YIELD_INTERVAL_MS) continue
        await new Promise((resolve) => setImmediate(resolve))
        lastYieldAt = performance.now()
      }
    }
  }

  /** Texts of MCP servers: an @ in them attaches nothing. */
  const textsWithoutFiles = new Set<string>()

  /** Messages of custom commands that wait, by what the user typed. */
  const preparedParts = new Map<string, UserTurn['parts']>()

  function toUserParts(text: string): UserTurn['parts'] {
    const prepared = preparedParts.get(text)
    preparedParts.delete(text)
    if (prepared) return [{ kind: 'text', text }, ...prepared]
    // The first part counts as words of the user.
    if (textsWithoutFiles.delete(text)) return [SERVER_PROMPT_NOTE, { kind: 'text', text }]
    return attachMentionedFiles(text, agent().folders[0] ?? '.', resolveMention)
  }

  function takeQueued(): UserTurn['parts'][] {
    const { queued } = ui().state
    if (queued.length > 0) ui().update((state) => ({ ...state, queued: [] }))
    return queued.map(toUserParts)
  }

  return {
    /** Sends a message to the model, or queues it while the model works. Attaches the files that it names by @. */
    submit(text: string, attach?: 'without-files'): void {
      if (attach) textsWithoutFiles.add(text)
      if (stop) ui().update((state) => ({ ...state, queued: [...state.queued, text] }))
      else running = executeRun(toUserParts(text))
    },
    /** Sends the message that a custom command made. `ownText` is what counts as words of the user. */
    submitParts(typed: string, parts: UserTurn['parts'], ownText: string): void {
      if (!stop) return void (running = executeRun(parts, ownText))
      preparedParts.set(typed, parts)
      ui().update((state) => ({ ...state, queued: [...state.queued, typed] }))
    },
    /** Work before a message is sent, such as the commands of a custom command; the user can stop it. */
    async whilePreparing<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      if (stop) return work(stop.signal)
      const own = new AbortController()
      stop = own
      ui().update((state) => ({ ...state, runningSince: Date.now() }))
      try {
        return await work(own.signal)
      } finally {
        if (stop === own) stop = undefined
        ui().update(({ runningSince: _unused, ...state }) => state)
      }
    },
    /** Continues with calls that waited for approval when the session was left. */
    resume(): void {
      if (!stop) running = executeRun(undefined)
    },
    stop: () => stop?.abort(),
    /** Ends the run because the user leaves. If it only waits for approvals, they stay open for the next time. */
    leave(): void {
      isLeaving = true
      if (pendingApprovals.size === 0 || executingCalls.size > 0) stop?.abort()
      else for (const { reply } of pendingApprovals.values()) reply()
    },
    answer: (reply: ApprovalReply) => pendingApprovals.get(reply.ask)?.reply(reply),
    /** The approval request with this id, if it still waits. */
    findApproval: (id: string) => pendingApprovals.get(id)?.ask,
    get isBusy(): boolean {
      return stop !== undefined
    },
    waitForEnd: () => running,
    onApproval: (ask: ApprovalRequest, signal: AbortSignal) =>
      new Promise<ApprovalReply | undefined>((resolve) => {
        const done = (reply?: ApprovalReply) => {
          // The signal may fire after the answer.
          if (!pendingApprovals.delete(ask.id)) return
          ui().update((state) => removeApprovalRequest(state, ask.id))
          resolve(reply)
        }
        pendingApprovals.set(ask.id, { ask, reply: done })
        signal.addEventListener('abort', () => done({ ask: ask.id, outcome: 'cancel' }), { once: true })
        ui().update((state) => addApprovalRequest(state, ask))
      }),
    takeQueued,
  }
}

const SERVER_PROMPT_NOTE = { kind: 'text', text: 'I selected this prompt of an MCP server:' } as const

/** Splits a long piece of text into pieces that can be drawn quickly. */
function splitDelta(event: RunEvent, maxChars: number): readonly RunEvent[] {
  if (deltaLength(event) <= maxChars || event.type !== 'turn' || event.event.type !== 'part-delta') return [event]
  const { text, ...delta } = event.event
  const pieces: RunEvent[] = []
  for (let from = 0; from < text.length;) {
    // A surrogate pair stays together.
    const end = from + maxChars + (isHighSurrogate(text, from + maxChars - 1) ? 1 : 0)
    pieces.push({ type: 'turn', event: { ...delta, text: text.slice(from, end) } })
    from = end
  }
  return pieces
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit < 0xdc00
}

/** A long block that may still change is laid out again at each frame: the longer it is, the fewer frames it gets. */
function countOpenChars({ conversation: { live } }: UiState): number {
  return live.reduce((sum, block) => sum + (block.kind === 'text' ? block.text.length : 0), 0)
}

function deltaLength(event: RunEvent): number {
  return event.type === 'turn' && event.event.type === 'part-delta' ? event.event.text.length : 0
}

function reduceState(state: UiState, event: RunEvent, agent: AgentContext): UiState {
  const conversation = applyRunEvent(state.conversation, event, Date.now())
  const status = { ...state.status, ...findStatusChange(event, agent) }
  if (event.type !== 'run-close') return { ...state, conversation, status }
  const isStopped = event.reason === 'cancelled'
  const text = isStopped ? 'Stopped. Send a message to continue.' : describeRunProblem(event, INTERACTIVE_ADVICE)
  if (text === undefined) return { ...state, conversation, status }
  const notice = { kind: 'notice', text, tone: isStopped ? 'quiet' : 'bad' } as const
  return { ...state, conversation: addBlock(conversation, notice), status }
}

const INTERACTIVE_ADVICE: ResumeAdvice = {
  afterStop: 'send a message to continue',
  afterFault: 'Send a message to try again.',
  afterOverflow: 'Use /compact, choose a model with a larger context window (/model), or start again (/clear).',
}

function findStatusChange(event: RunEvent, agent: AgentContext): Partial<StatusInfo> {
  if (event.type === 'budget') return defined({ cost: event.cost, window: agent.model.window })
  if (event.type === 'turn' && event.event.type === 'usage') {
    const { input, cacheRead, cacheWrite } = event.event.usage
    const all = input + cacheRead + cacheWrite
    return all > 0 ? { cached: cacheRead / all } : {}
  }
  if (event.type === 'entry' && (event.entry.kind === 'turn' || event.entry.kind === 'compact'))
    return { context: countContextTokens(agent.session.turns) }
  return {}
}
