import type { Agent } from '../../agent/agent.ts'
import type { Ask, Reply } from '../../agent/call-state.ts'
import { contextTokens } from '../../agent/compact.ts'
import { run } from '../../agent/run.ts'
import type { RunEvent } from '../../agent/run-event.ts'
import type { UserTurn } from '../../model/turn.ts'
import { problemOf } from '../output/text.ts'
import { withAttachments } from './attach.ts'
import { told } from './conversation.ts'
import type { Front } from './front.ts'
import { type State, withAsk } from './state.ts'

/** The conversation with the agent: one run at a time, questions to the person, and what waits. */
export interface Talk {
  /** Gives what a person said to the model, or lets it wait while the model works. Files named by @ go along, unless told otherwise. */
  say(text: string, attach?: 'without-files'): void
  /** Goes on with calls that were waiting for an answer when the session was left. */
  goOn(): void
  stop(): void
  answer(reply: Reply): void
  /** The question with this id, if it still waits. */
  asked(id: string): Ask | undefined
  readonly isBusy: boolean
  /** Done when nothing runs any more. */
  ended(): Promise<void>
  readonly ask: NonNullable<Agent['ask']>
  readonly inbox: NonNullable<Agent['inbox']>
}

/** So many milliseconds are spent on events, or so much text is taken in, before keys and the screen have their turn. */
const BREATH_MS = 2
const MOUTHFUL = 2000

/** Starts a conversation. The agent is asked for anew at each run: model and mode may have changed. */
export function startTalk(
  front: () => Front,
  agent: () => Agent,
  watch: (event: RunEvent) => void,
  known: (name: string) => UserTurn['parts'] | undefined,
): Talk {
  const waiting = new Map<string, { ask: Ask; reply: (reply: Reply) => void }>()
  let stop: AbortController | undefined
  let running: Promise<void> = Promise.resolve()

  async function work(said: UserTurn['parts'] | undefined): Promise<void> {
    stop = new AbortController()
    let rested = performance.now()
    let eaten = 0
    front().update((state) => ({ ...state, running: Date.now() }))
    try {
      for await (const event of run(agent(), said, stop.signal)) {
        watch(event)
        // An answer that comes in faster than it can be shown must not keep keys from being heard.
        for (const bite of bites(event)) {
          front().update((state) => after(state, bite, agent()))
          eaten += lengthOf(bite)
          if (eaten > MOUTHFUL) front().show()
          else if (performance.now() - rested <= BREATH_MS) continue
          await new Promise((resolve) => setImmediate(resolve))
          rested = performance.now()
          eaten = 0
        }
      }
    } catch (error) {
      front().say(
        `This should not have happened: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        'bad',
      )
    } finally {
      stop = undefined
      front().update(({ running: _unused, ...state }) => state)
    }
    const next = takeQueued()
    if (next.length > 0) await work(next.flat())
  }

  /** Texts of others, whose @ names nothing. */
  const bare = new Set<string>()

  function attached(text: string): UserTurn['parts'] {
    // The first part counts as words of the person.
    if (bare.delete(text)) return [OF_SERVER, { kind: 'text', text }]
    return withAttachments(text, agent().folders[0] ?? '.', known)
  }

  /** What was typed meanwhile, as the model gets it. */
  function takeQueued(): UserTurn['parts'][] {
    const { queued } = front().state
    if (queued.length > 0) front().update((state) => ({ ...state, queued: [] }))
    return queued.map(attached)
  }

  return {
    say(text, attach) {
      if (attach) bare.add(text)
      if (stop) front().update((state) => ({ ...state, queued: [...state.queued, text] }))
      else running = work(attached(text))
    },
    goOn() {
      if (!stop) running = work(undefined)
    },
    stop() {
      stop?.abort()
    },
    answer(reply) {
      const { ask } = waiting.get(reply.ask) ?? {}
      if (!ask) return
      waiting.get(reply.ask)?.reply(reply)
    },
    asked: (id) => waiting.get(id)?.ask,
    get isBusy() {
      return stop !== undefined
    },
    ended: () => running,
    ask: (ask, signal) =>
      new Promise((resolve) => {
        const done = (reply: Reply) => {
          waiting.delete(ask.id)
          front().update((state) => without(state, ask.id))
          resolve(reply)
        }
        waiting.set(ask.id, { ask, reply: done })
        signal.addEventListener('abort', () => done({ ask: ask.id, outcome: 'cancel' }), { once: true })
        front().update((state) => withAsk(state, ask))
      }),
    inbox: takeQueued,
  }
}

const OF_SERVER = { kind: 'text', text: 'I chose this prompt of a tool server:' } as const

function without(state: State, id: string): State {
  const asks = state.asks.filter((ask) => ask.id !== id)
  const { why: _why, isChoosing: _choosing, isTooEarly: _early, ...asking } = state.asking
  const { held: _held, isWriting: _writing, ...rest } = state
  const next = { ...asking, at: Math.min(asking.at, Math.max(asks.length - 1, 0)), top: 0 }
  // Whoever has turned to the questions answers the next one, too.
  return { ...rest, asks, asking: next, ...(asks.length > 0 && state.isWriting === false && { isWriting: false }) }
}

/** A long piece of text in pieces that can be shown quickly. */
function bites(event: RunEvent): readonly RunEvent[] {
  if (lengthOf(event) <= MOUTHFUL || event.type !== 'turn' || event.event.type !== 'part-delta') return [event]
  const { text, ...delta } = event.event
  const pieces: RunEvent[] = []
  for (let from = 0; from < text.length;) {
    // A character of two halves stays whole.
    const end = from + MOUTHFUL + (isHighHalf(text, from + MOUTHFUL - 1) ? 1 : 0)
    pieces.push({ type: 'turn', event: { ...delta, text: text.slice(from, end) } })
    from = end
  }
  return pieces
}

function isHighHalf(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit < 0xdc00
}

function lengthOf(event: RunEvent): number {
  return event.type === 'turn' && event.event.type === 'part-delta' ? event.event.text.length : 0
}

/** The state after an event: the conversation, and the figures of the status line. */
function after(state: State, event: RunEvent, agent: Agent): State {
  const next = { ...state, conversation: told(state.conversation, event, Date.now()) }
  if (event.type === 'budget') {
    const { window } = agent.model
    return {
      ...next,
      status: {
        ...state.status,
        ...(event.cost !== undefined && { cost: event.cost }),
        ...(window !== undefined && { window }),
      },
    }
  }
  if (event.type === 'turn' && event.event.type === 'usage') {
    const { input, cacheRead, cacheWrite } = event.event.usage
    const all = input + cacheRead + cacheWrite
    return { ...next, status: { ...state.status, ...(all > 0 && { cached: cacheRead / all }) } }
  }
  if (event.type === 'entry' && (event.entry.kind === 'turn' || event.entry.kind === 'compact'))
    return { ...next, status: { ...state.status, context: contextTokens(agent.session.turns) } }
  if (event.type !== 'run-close') return next
  // Whoever is in the conversation needs no command to come back to it.
  const problem = problemOf(event, 'Say anything to try again.')?.replace(
    /; dragoman --resume goes on$/,
    '; say anything to go on',
  )
  if (problem === undefined) return next
  const text = event.reason === 'cancelled' ? 'Stopped. What you type next goes on from here.' : problem
  const block = { kind: 'notice', text, tone: event.reason === 'cancelled' ? 'quiet' : 'bad' } as const
  return { ...next, conversation: { ...next.conversation, live: [...next.conversation.live, block] } }
}
