import type { RunEvent } from '../../agent/run-event.ts'
import { resultText } from '../../model/text.ts'
import type { TurnEvent } from '../../model/event.ts'
import type { ResultPart } from '../../model/turn.ts'
import { type SafeStream, startSafe } from '../../policy/terminal.ts'
import { spoken } from '../../provider/trouble.ts'
import { sentence } from '../../provider/wrap/wrapped.ts'
import { bounded } from './bounded.ts'
import { visible } from './visible.ts'
import type { Output, Refused, Sink } from './output.ts'

/** Plain text: what the model says goes to standard output, what it does to standard error. */
export function textOutput(sink: Sink): Output {
  const texts = new Map<number, SafeStream>()
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
    show(event) {
      if (event.type === 'turn') {
        const inner = event.event
        if (inner.type === 'part-open' && inner.kind === 'text') texts.set(inner.index, startSafe('model-text'))
        else if (inner.type === 'part-delta') write(texts.get(inner.index)?.write(inner.text) ?? '')
        else if (inner.type === 'part-close') write(texts.get(inner.index)?.end() ?? '')
        else if (inner.type === 'finish') endLine()
        else if (inner.type === 'wait') sink.err(`… ${visible(waitSentence(inner))}\n`)
        else if (inner.type === 'open' && inner.anew) {
          endLine()
          const why = firstSentence(inner.fault?.message ?? 'The answer broke off.')
          sink.err(`… ${visible(`${why} ${nextOf(inner)}`)}\n`)
        }
      } else if (event.type === 'call') showCall(event, sink)
      else if (event.type === 'compact' && event.done) sink.err('… the history was summarised\n')
      else if (event.type === 'notice') sink.err(`${visible(event.text)}\n`)
      else if (event.type === 'run-close') {
        endLine()
        if (event.plan !== undefined) write(`${visible(event.plan.trimEnd())}\n`)
        const problem = problemOf(event)
        if (problem !== undefined) sink.err(`dragoman: ${visible(oneLine(problem))}\n`)
      }
    },
    // The sentence on standard error says it all.
    refuse: () => undefined,
  }
}

/** What is being waited for, for how long already, and when we give up. */
export function waitSentence({ host, stage, waited, limit }: Extract<TurnEvent, { type: 'wait' }>): string {
  const what = stage === 'answer' ? 'the answer' : 'more of the answer'
  return `Waiting for ${what} of ${host} for ${spoken(waited)}; gives up after ${spoken(limit)}.`
}

/** Why a run did not end as it should, and how to go on; nothing if it did. */
export function problemOf(event: Extract<RunEvent, { type: 'run-close' }>, goOn = RESUME): string | undefined {
  if (event.reason === 'done') return undefined
  if (event.reason === 'unsaved') return event.fault?.message ?? CLOSED.unsaved
  if (event.fault) return `${sentence(event.fault.message)} ${goOn}`
  return CLOSED[event.reason]
}

/** The same as an object for programs. */
export function errorOf(event: Extract<RunEvent, { type: 'run-close' }>): Refused | undefined {
  const message = problemOf(event)
  return message === undefined ? undefined : { type: event.fault?.kind ?? event.reason, message: bounded(message) }
}

const RESUME = 'The session is kept: dragoman --resume goes on with it.'

const CLOSED: Record<Exclude<Extract<RunEvent, { type: 'run-close' }>['reason'], 'done'>, string> = {
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

function showCall({ call }: Extract<RunEvent, { type: 'call' }>, sink: Sink): void {
  if (call.status === 'executing') sink.err(`· ${visible(call.call.name)} ${visible(brief(call.call.raw))}\n`)
  else if (call.status === 'error' || call.status === 'cancelled') {
    sink.err(`! ${visible(call.call.name)}: ${visible(brief(firstLine(call.result)))}\n`)
  } else if (call.status === 'success') showDiff(call.result, sink)
}

function showDiff(result: ResultPart, sink: Sink): void {
  const display = result.display
  const diff =
    typeof display === 'object' && display !== null && !Array.isArray(display) ? display['fileDiff'] : undefined
  if (typeof diff === 'string') sink.err(visible(diff.endsWith('\n') ? diff : `${diff}\n`, 'diff'))
}

function firstLine(result: ResultPart): string {
  return resultText(result).split('\n', 1)[0] ?? ''
}

/** What went wrong; nobody needs to be told what to do about it while we do it. */
function firstSentence(message: string): string {
  return sentence(oneLine(message).split(/(?<=[.!?]) /, 1)[0] ?? '')
}

/** What happens next: another model is asked, or the same one again; nobody is left to guess at a long wait. */
function nextOf({ origin, wait = 0 }: Opened): string {
  if (origin) return `Going on with ${origin.provider}/${origin.model}.`
  return `It is asked for again${wait < LONG ? '' : ` in ${spoken(wait)}`}.`
}

type Opened = Extract<TurnEvent, { type: 'open' }>

/** Milliseconds after which one wonders. */
const LONG = 5000

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function brief(text: string): string {
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}
