import type { Fault } from '../../model/fault.ts'
import type { EntryBody } from '../../session/log/entry.ts'
import type { RejectedCall } from '../../model/fold.ts'
import type { CallPart } from '../../model/turn.ts'
import type { AgentContext } from '../agent-context.ts'
import { type CallOutcome, executeCalls } from '../calls/execute-calls.ts'
import { compactHistory } from '../history/compact.ts'
import { callRunHook } from '../hooks/call-run-hook.ts'
import { createOutputContract, type OutputContract } from '../output/output-contract.ts'
import { createRepetitionDetector } from './repetition-detector.ts'
import { isPlanModeAnnounced } from '../history/plan-mode-note.ts'
import type { CloseReason, RunEvent } from './run-event.ts'
import { type RunTotals, type UsageMeter, createUsageMeter } from './usage-meter.ts'

/** The state of a run between its turns. */
export interface RunState {
  /** Another one after a handoff. */
  agent: AgentContext
  /** The id of the prompt. */
  readonly prompt: string
  readonly signal: AbortSignal
  readonly repetitions: ReturnType<typeof createRepetitionDetector>
  readonly usageMeter: UsageMeter
  /** The number of requests so far. */
  turns: number
  /** What the answer must be, if the agent has an output schema. */
  readonly output: OutputContract | undefined
  lastText: string
  /** Has the model made a call in this run? */
  hasCalled: boolean
  /** How many answers in a row did not fit the output schema. */
  invalidOutputCount: number
  /** How many responses in a row could not be used. */
  unusableCount: number
  /** Was the history compacted after the vendor refused it as too long, and not accepted since? */
  hasCompactedForOverflow: boolean
  /** No further compaction before the history is longer than this. */
  minCompactionChars: number
  isPlanModeAnnounced: boolean
  /** What hooks said about the prompt, for the model. */
  readonly promptContext: string[]
  /** How often a hook has let the model go on at its end. */
  continuations: number
}

export interface RunEnd {
  readonly reason: CloseReason
  readonly fault?: Fault
  readonly plan?: string
  readonly output?: unknown
}

export function createRunState(agent: AgentContext, prompt: string, signal: AbortSignal): RunState {
  const state: RunState = {
    agent,
    prompt,
    signal,
    repetitions: createRepetitionDetector(),
    usageMeter: createUsageMeter(agent, () => state.agent.model.origin),
    turns: 0,
    output: agent.output && createOutputContract(agent.output),
    lastText: '',
    hasCalled: false,
    invalidOutputCount: 0,
    unusableCount: 0,
    hasCompactedForOverflow: false,
    minCompactionChars: 0,
    isPlanModeAnnounced: isPlanModeAnnounced(agent.session),
    promptContext: [],
    continuations: 0,
  }
  return state
}

export function getRunTotals({ turns, usageMeter }: RunState): RunTotals {
  return { turns, ...usageMeter.totals }
}

/** Executes calls, and counts what the agents among the tools use. */
export async function* executeAndMeter(
  state: RunState,
  calls: readonly CallPart[],
  rejected: readonly RejectedCall[],
): AsyncGenerator<RunEvent, readonly CallOutcome[]> {
  const events = executeCalls(state.agent, calls, rejected, state.signal)
  try {
    for (;;) {
      const next = await events.next()
      if (next.done) return next.value
      meterSubagent(state, next.value)
      yield next.value
      for (const event of takeBackgroundEvents(state)) yield event
    }
  } finally {
    await events.return([])
  }
}

/** The events of subagents in the background, which nobody else reads. */
export function* takeBackgroundEvents(state: RunState): Generator<RunEvent> {
  for (const event of state.agent.background?.takeEvents() ?? []) {
    meterSubagent(state, event)
    yield event
  }
}

function meterSubagent({ usageMeter }: RunState, event: RunEvent): void {
  if (event.type === 'subagent' && event.event.type === 'run-close') usageMeter.addTotals(event.event)
}

export function appendRunLogEntry({ agent }: RunState, body: EntryBody): RunEvent {
  return { type: 'entry', entry: agent.session.append(body) }
}

/** Compacts the history. Is it shorter now? */
export async function* compactAndMeter(state: RunState): AsyncGenerator<RunEvent, boolean> {
  const { agent, prompt, signal, usageMeter } = state
  const before = agent.hooks?.preCompact && (yield* callRunHook(state, 'preCompact', { trigger: 'auto' }))
  if (before?.block) {
    yield { type: 'notice', text: `A hook refused to summarise the conversation: ${before.block.reason}` }
    return false
  }
  const { isDone, response } = yield* compactHistory(agent, prompt, signal)
  if (response) await usageMeter.add(response.origin, response.usage)
  state.isPlanModeAnnounced = isPlanModeAnnounced(agent.session)
  if (isDone && agent.hooks?.sessionStart) {
    const outcome = yield* callRunHook(state, 'sessionStart', { source: 'compact' })
    if (outcome?.additionalContext !== undefined)
      yield appendRunLogEntry(state, { kind: 'note', text: outcome.additionalContext })
  }
  return isDone
}
