import type { CloseReason, RunEvent } from '../../agent/loop/run-event.ts'
import type { TurnEvent } from '../../model/event.ts'
import { endWithPeriod } from '../../model/text.ts'
import { formatDuration } from '../../provider/index.ts'
import type { OutputOptions, RunError } from './run-output.ts'
import { truncateLines } from './truncate-lines.ts'

/** What is being waited for, how long already, and when the request times out. */
export function describeWait({ host, stage, waited, limit }: Extract<TurnEvent, { type: 'wait' }>): string {
  const what = stage === 'answer' ? 'a response' : 'the rest of the response'
  return `Waiting for ${what} from ${host} (${formatDuration(waited)}); timeout after ${formatDuration(limit)}.`
}

/** Why an attempt failed, and what happens next: the same model is asked again, or another one. */
export function describeRetry({ fault, origin, wait = 0 }: Extract<TurnEvent, { type: 'open' }>): string {
  const problem = endWithPeriod(toOneLine(fault?.message ?? 'The response was interrupted.'))
  if (origin) return `${problem} Falling back to ${origin.provider}/${origin.model}.`
  return `${problem} Retrying${wait < 1000 ? '' : ` in ${formatDuration(wait)}`}.`
}

/** What a front end advises after a run that did not end well: a clause after the reason, or a sentence after a fault. */
export type ResumeAdvice = Readonly<Record<'afterStop' | 'afterFault' | 'afterOverflow', string>>

/** Why a run did not end well, and how to continue; undefined if it did end well. */
export function describeRunProblem(event: RunCloseEvent, advice: ResumeAdvice | undefined): string | undefined {
  if (event.reason === 'done') return undefined
  const { problem, canContinue } = CLOSE_PROBLEMS[event.reason]
  if (event.reason === 'unsaved' || event.reason === 'taken-over') return event.fault?.message ?? problem
  if (event.fault) {
    const next = event.fault.kind === 'overflow' ? advice?.afterOverflow : advice?.afterFault
    return [endWithPeriod(event.fault.message), next].filter(Boolean).join(' ')
  }
  return canContinue && advice ? `${problem}; ${advice.afterStop}` : problem
}

/** The same as an object for programs. */
export function toRunError(event: RunCloseEvent, options: OutputOptions): RunError | undefined {
  const message = describeRunProblem(event, getHeadlessAdvice(options))
  if (message === undefined) return undefined
  const { code, kind = event.reason } = event.fault ?? {}
  return { type: code === 'output-invalid' ? code : kind, message: truncateLines(message) }
}

export function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

type RunCloseEvent = Extract<RunEvent, { type: 'run-close' }>

/** A session that is not saved cannot be continued. */
export function getHeadlessAdvice({ isSaved = true }: OutputOptions): ResumeAdvice | undefined {
  return isSaved ? HEADLESS_ADVICE : undefined
}

const HEADLESS_ADVICE: ResumeAdvice = {
  afterStop: 'continue with dragoman --resume',
  afterFault: 'The session is saved; continue with dragoman --resume.',
  // The same request would be refused again.
  afterOverflow: 'The session is saved; continue with dragoman --resume and a model with a larger context window (-m).',
}

const CLOSE_PROBLEMS: Record<Exclude<CloseReason, 'done'>, { problem: string; canContinue: boolean }> = {
  'awaiting-approval': { problem: 'calls are waiting for approval', canContinue: true },
  'turn-limit': { problem: 'turn limit reached', canContinue: true },
  'time-limit': { problem: 'time limit reached', canContinue: true },
  'cost-limit': { problem: 'cost limit reached', canContinue: true },
  loop: { problem: 'stopped: the model repeated the same calls', canContinue: false },
  cancelled: { problem: 'interrupted', canContinue: true },
  'output-lost': { problem: 'stopped: standard output was closed', canContinue: true },
  length: { problem: 'response truncated: the model reached its output limit', canContinue: true },
  filter: {
    problem: 'response incomplete: a content filter of the provider blocked it or its rest',
    canContinue: true,
  },
  fault: { problem: 'the request to the model failed', canContinue: false },
  unsaved: { problem: 'the session could not be saved', canContinue: false },
  'taken-over': { problem: 'stopped: another process took the session over', canContinue: false },
}
