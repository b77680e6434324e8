import type { Fault } from '../model/fault.ts'
import type { EntryBody } from '../session/entry.ts'
import type { Agent } from './agent.ts'
import { compact } from './compact.ts'
import { startLoopWatch } from './loop-watch.ts'
import { isPlanTold } from './plan-note.ts'
import type { CloseReason, RunEvent } from './run-event.ts'
import { type Spending, startSpending } from './spending.ts'

/** What a run knows between its turns. */
export interface RunState {
  readonly agent: Agent
  /** Names the prompt that this run works on. */
  readonly prompt: string
  readonly signal: AbortSignal
  readonly loops: ReturnType<typeof startLoopWatch>
  readonly spending: Spending
  /** The text of the last response. */
  text: string
  /** How many responses in a row could not be used. */
  unusable: number
  /** Was the history summarized because it was refused as too long, and not accepted since? */
  hasShrunk: boolean
  /** No further summary is paid for before the history is longer than this many characters. */
  longEnough: number
  /** Does the model know that it is to make a plan? */
  isPlanTold: boolean
}

/** How a run ends. */
export interface RunEnd {
  readonly reason: CloseReason
  readonly fault?: Fault
  readonly plan?: string
}

/** The state at the beginning of a run. */
export function createRunState(agent: Agent, prompt: string, signal: AbortSignal): RunState {
  return {
    agent,
    prompt,
    signal,
    loops: startLoopWatch(),
    spending: startSpending(agent),
    text: '',
    unusable: 0,
    hasShrunk: false,
    longEnough: 0,
    isPlanTold: isPlanTold(agent.session),
  }
}

/** Adds an entry to the log. */
export function logEntry({ agent }: RunState, body: EntryBody): RunEvent {
  return { type: 'entry', entry: agent.session.append(body) }
}

/** Summarizes the history; tells whether it is shorter now. */
export async function* shrinkHistory(state: RunState): AsyncGenerator<RunEvent, boolean> {
  const { agent, prompt, signal, spending } = state
  const { isDone, response } = yield* compact(agent, prompt, signal)
  if (response) await spending.add(response.origin, response.usage)
  state.isPlanTold = isPlanTold(agent.session)
  return isDone
}
