import type { Agent } from '../../agent/agent.ts'
import type { ApprovalRequest, ApprovalReply } from '../../agent/calls/call-state.ts'
import { countContextTokens } from '../../agent/history/compact.ts'
import { run } from '../../agent/loop/run.ts'
import type { RunEvent } from '../../agent/loop/run-event.ts'
import type { UserTurn } from '../../model/turn.ts'
import { describeRunProblem } from '../output/text-output.ts'
import { attachMentionedFiles } from './mention/attachments.ts'
import { reduceConversation } from './conversation.ts'
import type { Ui } from './ui.ts'
import { type UiState, withAsk } from './ui-state.ts'
import { defined } from '../../model/defined.ts'

/** The conversation with the agent: one run at a time, questions to the person, and what waits. */
export interface RunController {
  /** Gives what a person said to the model, or lets it wait while the model works. Files named by @ go along, unless told otherwise. */
  submit(text: string, attach?: 'without-files'): void
  /** Goes on with calls that were waiting for an answer when the session was left. */
  resume(): void
  stop(): void
  answer(reply: ApprovalReply): void
  /** The question with this id, if it still waits. */
  findApproval(id: string): ApprovalRequest | undefined
  readonly isBusy: boolean
  /** Done when nothing runs any more. */
  waitForEnd(): Promise<void>
  readonly onApproval: NonNullable<Agent['requestApproval']>
  readonly takeQueued: NonNullable<Agent['takeQueuedMessages']>
}

/** So many milliseconds are spent on events, or so much text is taken in, before keys and the screen have their turn. */
const YIELD_INTERVAL_MS = 2
const MAX_DELTA_CHARS = 2000

/** Starts a conversation. The agent is asked for anew at each run: model and mode may have changed. */
export function createRunController(
  ui: () => Ui,
  agent: () => Agent,
  onEvent: (event: RunEvent) => void,
  resolveMention: (name: string) => UserTurn['parts'] | undefined,
): RunController {
  const pendingApprovals = new Map<string, { ask: ApprovalRequest; reply: (reply: ApprovalReply) => void }>()
  let stop: AbortController | undefined
  let running: Promise<void> = Promise.resolve()

  async function executeRun(userParts: UserTurn['parts'] | undefined): Promise<void> {
    stop = new AbortController()
    let lastYieldAt = performance.now()
    let charsSinceYield = 0
    ui().update((state) => ({ ...state, runningSince: Date.now() }))
    try {
      for await (const event of run(agent(), userParts, stop.signal)) {
        onEvent(event)
        // An answer that comes in faster than it can be shown must not keep keys from being heard.
        for (const part of splitDelta(event)) {
          ui().update((state) => reduceState(state, part, agent()))
          charsSinceYield += deltaLength(part)
          if (charsSinceYield > MAX_DELTA_CHARS) ui().flush()
          else if (performance.now() - lastYieldAt <= YIELD_INTERVAL_MS) continue
          await new Promise((resolve) => setImmediate(resolve))
          lastYieldAt = performance.now()
          charsSinceYield = 0
        }
      }
    } catch (error) {
      ui().notify(
        `This should not have happened: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        'bad',
      )
    } finally {
      stop = undefined
      ui().update(({ runningSince: _unused, ...state }) => state)
    }
    const next = takeQueued()
    if (next.length > 0) await executeRun(next.flat())
  }

  /** Texts of others, whose @ names nothing. */
  const textsWithoutFiles = new Set<string>()

  function withFiles(text: string): UserTurn['parts'] {
    // The first part counts as words of the person.
    if (textsWithoutFiles.delete(text)) return [SERVER_PROMPT_NOTE, { kind: 'text', text }]
    return attachMentionedFiles(text, agent().folders[0] ?? '.', resolveMention)
  }

  /** What was typed meanwhile, as the model gets it. */
  function takeQueued(): UserTurn['parts'][] {
    const { queued } = ui().state
    if (queued.length > 0) ui().update((state) => ({ ...state, queued: [] }))
    return queued.map(withFiles)
  }

  return {
    submit(text, attach) {
      if (attach) textsWithoutFiles.add(text)
      if (stop) ui().update((state) => ({ ...state, queued: [...state.queued, text] }))
      else running = executeRun(withFiles(text))
    },
    resume() {
      if (!stop) running = executeRun(undefined)
    },
    stop() {
      stop?.abort()
    },
    answer(reply) {
      const { ask } = pendingApprovals.get(reply.ask) ?? {}
      if (!ask) return
      pendingApprovals.get(reply.ask)?.reply(reply)
    },
    findApproval: (id) => pendingApprovals.get(id)?.ask,
    get isBusy() {
      return stop !== undefined
    },
    waitForEnd: () => running,
    onApproval: (ask, signal) =>
      new Promise((resolve) => {
        const done = (reply: ApprovalReply) => {
          pendingApprovals.delete(ask.id)
          ui().update((state) => removeApproval(state, ask.id))
          resolve(reply)
        }
        pendingApprovals.set(ask.id, { ask, reply: done })
        signal.addEventListener('abort', () => done({ ask: ask.id, outcome: 'cancel' }), { once: true })
        ui().update((state) => withAsk(state, ask))
      }),
    takeQueued,
  }
}

const SERVER_PROMPT_NOTE = { kind: 'text', text: 'I chose this prompt of a tool server:' } as const

function removeApproval(state: UiState, id: string): UiState {
  const asks = state.approvals.filter((ask) => ask.id !== id)
  const { reasonEditor: _why, isChoosing: _choosing, isTooEarly: _early, ...asking } = state.approvalView
  const { heldKey: _held, isWriting: _writing, ...rest } = state
  const next = { ...asking, at: Math.min(asking.at, Math.max(asks.length - 1, 0)), top: 0 }
  // Whoever has turned to the questions answers the next one, too.
  return {
    ...rest,
    approvals: asks,
    approvalView: next,
    ...(asks.length > 0 && state.isWriting === false && { isWriting: false }),
  }
}

/** A long piece of text in pieces that can be shown quickly. */
function splitDelta(event: RunEvent): readonly RunEvent[] {
  if (deltaLength(event) <= MAX_DELTA_CHARS || event.type !== 'turn' || event.event.type !== 'part-delta')
    return [event]
  const { text, ...delta } = event.event
  const pieces: RunEvent[] = []
  for (let from = 0; from < text.length;) {
    // A character of two halves stays whole.
    const end = from + MAX_DELTA_CHARS + (isHighSurrogate(text, from + MAX_DELTA_CHARS - 1) ? 1 : 0)
    pieces.push({ type: 'turn', event: { ...delta, text: text.slice(from, end) } })
    from = end
  }
  return pieces
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit < 0xdc00
}

function deltaLength(event: RunEvent): number {
  return event.type === 'turn' && event.event.type === 'part-delta' ? event.event.text.length : 0
}

/** The state after an event: the conversation, and the figures of the status line. */
function reduceState(state: UiState, event: RunEvent, agent: Agent): UiState {
  const next = { ...state, conversation: reduceConversation(state.conversation, event, Date.now()) }
  if (event.type === 'budget') {
    const { window } = agent.model
    return {
      ...next,
      status: {
        ...state.status,
        ...defined({ cost: event.cost, window }),
      },
    }
  }
  if (event.type === 'turn' && event.event.type === 'usage') {
    const { input, cacheRead, cacheWrite } = event.event.usage
    const all = input + cacheRead + cacheWrite
    return { ...next, status: { ...state.status, ...(all > 0 && { cached: cacheRead / all }) } }
  }
  if (event.type === 'entry' && (event.entry.kind === 'turn' || event.entry.kind === 'compact'))
    return { ...next, status: { ...state.status, context: countContextTokens(agent.session.turns) } }
  if (event.type !== 'run-close') return next
  // Whoever is in the conversation needs no command to come back to it.
  const problem = describeRunProblem(event, 'Say anything to try again.')?.replace(
    /; dragoman --resume goes on$/,
    '; say anything to go on',
  )
  if (problem === undefined) return next
  const text = event.reason === 'cancelled' ? 'Stopped. What you type next goes on from here.' : problem
  const block = { kind: 'notice', text, tone: event.reason === 'cancelled' ? 'quiet' : 'bad' } as const
  return { ...next, conversation: { ...next.conversation, live: [...next.conversation.live, block] } }
}
