import type { RunEvent } from '../../agent/loop/run-event.ts'
import { isObject } from '../../model/json.ts'
import { formatResultText } from '../../model/text.ts'
import type { TurnEvent } from '../../model/event.ts'
import type { ResultPart } from '../../model/turn.ts'
import { escapeInvisibleInJson, type SanitizingStream, createSanitizingStream } from '../../policy/text/sanitize.ts'
import { describeRetry, describeRunProblem, describeWait, getHeadlessAdvice, toOneLine } from './describe-run.ts'
import { escapeForTerminal } from './escape.ts'
import type { RunOutput, OutputOptions, OutputStreams } from './run-output.ts'

/** Plain text: the text of the model, or its structured answer, goes to standard output, everything else to standard error. */
export function createTextOutput(sink: OutputStreams, options: OutputOptions = {}): RunOutput {
  const texts = new Map<number, SanitizingStream>()
  let written = ''

  function write(text: string): void {
    if (text === '') return
    written = text
    sink.out(text)
  }

  function writeNotice(text: string): void {
    sink.err(`… ${escapeForTerminal(text)}\n`)
  }

  /** Prints what is held back of the open texts, and ends the line. */
  function endLine(): void {
    for (const text of texts.values()) write(text.end())
    texts.clear()
    if (written !== '' && !written.endsWith('\n')) write('\n')
  }

  function onTurnEvent(event: TurnEvent): void {
    switch (event.type) {
      case 'open':
        if (!event.anew) return
        endLine()
        return writeNotice(describeRetry(event))
      case 'part-open':
        if (event.kind === 'text' && !options.isStructured) texts.set(event.index, createSanitizingStream('model-text'))
        return
      case 'part-delta':
        return write(texts.get(event.index)?.write(event.text) ?? '')
      case 'part-close':
        return write(texts.get(event.index)?.end() ?? '')
      case 'wait':
        return writeNotice(describeWait(event))
      case 'finish':
        return endLine()
      case 'usage':
      case 'warn':
        return
      default:
        return event satisfies never
    }
  }

  function onEvent(event: RunEvent): void {
    switch (event.type) {
      case 'turn':
        return onTurnEvent(event.event)
      case 'call':
        return printCall(event, sink)
      case 'subagent':
        return event.event.type === 'call' || event.event.type === 'notice'
          ? printSubagentEvent(event.name, event.event, sink)
          : undefined
      case 'compact':
        return event.done ? writeNotice('the conversation was summarised') : undefined
      case 'notice':
        return sink.err(`${escapeForTerminal(event.text)}\n`)
      case 'run-close': {
        endLine()
        if (event.plan !== undefined) write(`${escapeForTerminal(event.plan.trimEnd())}\n`)
        if (options.isStructured && event.output !== undefined)
          write(`${escapeInvisibleInJson(JSON.stringify(event.output, null, 2))}\n`)
        const problem = describeRunProblem(event, getHeadlessAdvice(options))
        return problem === undefined ? undefined : sink.err(`dragoman: ${escapeForTerminal(toOneLine(problem))}\n`)
      }
      case 'run-open':
      case 'progress':
      case 'output':
      case 'ask':
      case 'reply':
      case 'entry':
      case 'budget':
      case 'handoff':
        return
      default:
        return event satisfies never
    }
  }

  // Whoever calls onError has printed the message on standard error already.
  return { onEvent, onError: () => undefined }
}

function printSubagentEvent(
  name: string,
  event: Extract<RunEvent, { type: 'call' | 'notice' }>,
  sink: OutputStreams,
): void {
  const prefixed = { ...sink, err: (text: string) => sink.err(`${escapeForTerminal(name)} ${text}`) }
  return event.type === 'call' ? printCall(event, prefixed) : prefixed.err(`${escapeForTerminal(event.text)}\n`)
}

function printCall({ call }: Extract<RunEvent, { type: 'call' }>, sink: OutputStreams): void {
  const name = escapeForTerminal(call.call.name)
  switch (call.status) {
    case 'executing':
      return sink.err(`· ${name} ${escapeForTerminal(truncateText(call.call.raw))}\n`)
    case 'error':
    case 'cancelled':
      return sink.err(`! ${name}: ${escapeForTerminal(truncateText(firstResultLine(call.result)))}\n`)
    case 'success':
      return printDiff(call.result, sink)
    case 'validating':
    case 'awaiting-approval':
    case 'scheduled':
      return
    default:
      return call satisfies never
  }
}

function printDiff({ display }: ResultPart, sink: OutputStreams): void {
  const diff = isObject(display) ? display['fileDiff'] : undefined
  if (typeof diff === 'string') sink.err(escapeForTerminal(diff.endsWith('\n') ? diff : `${diff}\n`, 'diff'))
}

function firstResultLine(result: ResultPart): string {
  return formatResultText(result).split('\n', 1)[0] ?? ''
}

function truncateText(text: string): string {
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}
