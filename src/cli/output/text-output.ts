import type { RunEvent } from '../../agent/loop/run-event.ts'
import { formatResultText } from '../../model/text.ts'
import type { TurnEvent } from '../../model/event.ts'
import type { ResultPart } from '../../model/turn.ts'
import { type SanitizingStream, createSanitizingStream } from '../../policy/text/sanitize.ts'
import { formatDuration } from '../../provider/index.ts'
import { endWithPeriod } from '../../model/text.ts'
import { truncateLines } from './truncate-lines.ts'
import { escapeForTerminal } from './escape.ts'
import type { RunOutput, RunError, OutputStreams } from './run-output.ts'

/** Plain text: what the model says goes to standard output, what it does to standard error. */
export function createTextOutput(sink: OutputStreams): RunOutput {
  const texts = new Map<number, SanitizingStream>()
  let written = ''

  function write(text: string): void {
    if (text === '') return
    written = text
    sink.out(text)
  }

  /** Prints what is held back of the texts that are open, and ends the line. */
  function endLine(): void {
    for (const text of texts.values()) write(text.end())
    texts.clear()
    if (written !== '' && !written.endsWith('\n')) write('\n')
  }

  return {
    onEvent(event) {
      if (event.type === 'turn') {
        const turnEvent = event.event
        if (turnEvent.type === 'part-open' && turnEvent.kind === 'text')
          texts.set(turnEvent.index, createSanitizingStream('model-text'))
        else if (turnEvent.type === 'part-delta') write(texts.get(turnEvent.index)?.write(turnEvent.text) ?? '')
        else if (turnEvent.type === 'part-close') write(texts.get(turnEvent.index)?.end() ?? '')
        else if (turnEvent.type === 'finish') endLine()
        else if (turnEvent.type === 'wait') sink.err(`… ${escapeForTerminal(describeWait(turnEvent))}\n`)
        else if (turnEvent.type === 'open' && turnEvent.anew) {
          endLine()
          const why = takeFirstSentence(turnEvent.fault?.message ?? 'The answer broke off.')
          sink.err(`… ${escapeForTerminal(`${why} ${describeRetry(turnEvent)}`)}\n`)
        }
      } else if (event.type === 'call') printCall(event, sink)
      else if (event.type === 'compact' && event.done) sink.err('… the history was summarised\n')
      else if (event.type === 'notice') sink.err(`${escapeForTerminal(event.text)}\n`)
      else if (event.type === 'run-close') {
        endLine()
        if (event.plan !== undefined) write(`${escapeForTerminal(event.plan.trimEnd())}\n`)
        const problem = describeRunProblem(event)
        if (problem !== undefined) sink.err(`dragoman: ${escapeForTerminal(toOneLine(problem))}\n`)
      }
    },
    // The sentence on standard error says it all.
    onError: () => undefined,
  }
}

/** What is being waited for, for how long already, and when we give up. */
export function describeWait({ host, stage, waited, limit }: Extract<TurnEvent, { type: 'wait' }>): string {
  const what = stage === 'answer' ? 'the answer' : 'more of the answer'
  return `Waiting for ${what} of ${host} for ${formatDuration(waited)}; gives up after ${formatDuration(limit)}.`
}

/** Why a run did not end as it should, and how to go on; nothing if it did. */
export function describeRunProblem(
  event: Extract<RunEvent, { type: 'run-close' }>,
  resumeHint = RESUME_HINT,
): string | undefined {
  if (event.reason === 'done') return undefined
  if (event.reason === 'unsaved') return event.fault?.message ?? CLOSE_MESSAGES.unsaved
  if (event.fault) return `${endWithPeriod(event.fault.message)} ${resumeHint}`
  return CLOSE_MESSAGES[event.reason]
}

/** The same as an object for programs. */
export function toRunError(event: Extract<RunEvent, { type: 'run-close' }>): RunError | undefined {
  const message = describeRunProblem(event)
  return message === undefined
    ? undefined
    : { type: event.fault?.kind ?? event.reason, message: truncateLines(message) }
}

const RESUME_HINT = 'The session is kept: dragoman --resume goes on with it.'

const CLOSE_MESSAGES: Record<Exclude<Extract<RunEvent, { type: 'run-close' }>['reason'], 'done'>, string> = {
  'turn-limit': 'stopped at the limit of turns; dragoman --resume goes on',
  'time-limit': 'stopped at the limit of time; dragoman --resume goes on',
  'cost-limit': 'stopped at the limit of cost; dragoman --resume goes on',
  loop: 'stopped, because the model kept making the same calls',
  cancelled: 'interrupted; dragoman --resume goes on',
  'output-lost': 'stopped, because standard output was closed; dragoman --resume goes on',
  length: 'the answer is not whole: the model stopped at its length limit; dragoman --resume goes on',
  filter:
    'the answer is not whole: a content filter of the provider withheld it or its rest; dragoman --resume goes on',
  fault: 'the model could not be asked',
  unsaved: 'the session could not be saved',
}

function printCall({ call }: Extract<RunEvent, { type: 'call' }>, sink: OutputStreams): void {
  if (call.status === 'executing')
    sink.err(`· ${escapeForTerminal(call.call.name)} ${escapeForTerminal(truncateText(call.call.raw))}\n`)
  else if (call.status === 'error' || call.status === 'cancelled') {
    sink.err(
      `! ${escapeForTerminal(call.call.name)}: ${escapeForTerminal(truncateText(firstResultLine(call.result)))}\n`,
    )
  } else if (call.status === 'success') printDiff(call.result, sink)
}

function printDiff(result: ResultPart, sink: OutputStreams): void {
  const display = result.display
  const diff =
    typeof display === 'object' && display !== null && !Array.isArray(display) ? display['fileDiff'] : undefined
  if (typeof diff === 'string') sink.err(escapeForTerminal(diff.endsWith('\n') ? diff : `${diff}\n`, 'diff'))
}

function firstResultLine(result: ResultPart): string {
  return formatResultText(result).split('\n', 1)[0] ?? ''
}

/** What went wrong; nobody needs to be told what to do about it while we do it. */
function takeFirstSentence(message: string): string {
  return endWithPeriod(toOneLine(message).split(/(?<=[.!?]) /, 1)[0] ?? '')
}

/** What happens next: another model is asked, or the same one again; nobody is left to guess at a long wait. */
function describeRetry({ origin, wait = 0 }: TurnOpenEvent): string {
  if (origin) return `Going on with ${origin.provider}/${origin.model}.`
  return `It is asked for again${wait < LONG_WAIT_MS ? '' : ` in ${formatDuration(wait)}`}.`
}

type TurnOpenEvent = Extract<TurnEvent, { type: 'open' }>

/** Milliseconds after which one wonders. */
const LONG_WAIT_MS = 5000

function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function truncateText(text: string): string {
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}
