import type { Fault } from '../../model/fault.ts'
import type { EntryBody } from '../../session/log/entry.ts'
import type { Agent } from '../agent.ts'
import { compactHistory } from '../history/compact.ts'
import { createRepetitionDetector } from './repetition-detector.ts'
import { isPlanModeAnnounced } from '../history/plan-mode-note.ts'
import type { CloseReason, RunEvent } from './run-event.ts'
import { type UsageMeter, createUsageMeter } from './usage-meter.ts'

/** What a run knows between its turns. */
export interface RunState {
  readonly agent: Agent
  /** Names the prompt that this run works on. */
  readonly prompt: string
  readonly signal: AbortSignal
  readonly repetitions: ReturnType<typeof createRepetitionDetector>
  readonly usageMeter: UsageMeter
  /** The text of the last response. */
  lastText: string
  /** How many responses in a row could not be used. */
  unusableCount: number
  /** Was the history summarized because it was refused as too long, and not accepted since? */
  hasCompactedForOverflow: boolean
  /** No further summary is paid for before the history is longer than this many characters. */
  minCompactionChars: number
  /** Does the model know that it is to make a plan? */
  isPlanModeAnnounced: boolean
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
    repetitions: createRepetitionDetector(),
    usageMeter: createUsageMeter(agent),
    lastText: '',
    unusableCount: 0,
    hasCompactedForOverflow: false,
    minCompactionChars: 0,
    isPlanModeAnnounced: isPlanModeAnnounced(agent.session),
  }
}

/** Adds an entry to the log. */
export function logEntry({ agent }: RunState, body: EntryBody): RunEvent {
  return { type: 'entry', entry: agent.session.append(body) }
}

/** Summarizes the history; tells whether it is shorter now. */
export async function* compactAndMeter(state: RunState): AsyncGenerator<RunEvent, boolean> {
  const { agent, prompt, signal, usageMeter } = state
  const { isDone, response } = yield* compactHistory(agent, prompt, signal)
  if (response) await usageMeter.add(response.origin, response.usage)
  state.isPlanModeAnnounced = isPlanModeAnnounced(agent.session)
  return isDone
}
