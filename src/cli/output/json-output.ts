import type { RunEvent } from '../../agent/loop/run-event.ts'
import { defined } from '../../model/defined.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { escapeInvisibleInJson } from '../../policy/text/sanitize.ts'
import { describeWait, toRunError } from './describe-run.ts'
import { escapeForTerminal } from './escape.ts'
import { createRunStats } from './run-stats.ts'
import type { OutputOptions, RunOutput, RunError, OutputStreams } from './run-output.ts'

/** One JSON object at the end of the run. */
export function createJsonOutput(sink: OutputStreams, options: OutputOptions = {}): RunOutput {
  const stats = createRunStats()
  let session = ''
  const warnings: string[] = []

  function close(response: string, error: RunError | undefined, output?: Json): void {
    const value: JsonObject = {
      session_id: session,
      response,
      ...defined({ structured_output: output }),
      stats: stats.toJson(),
      ...(error && { error: { ...error } }),
      ...(warnings.length > 0 && { warnings }),
    }
    sink.out(`${escapeInvisibleInJson(JSON.stringify(value, null, 2))}\n`)
  }

  function onEvent(event: RunEvent): void {
    stats.onEvent(event)
    switch (event.type) {
      case 'run-open':
        session = event.session
        return
      case 'turn':
        if (event.event.type === 'wait') sink.err(`… ${escapeForTerminal(describeWait(event.event))}\n`)
        return
      case 'notice':
        warnings.push(event.text)
        return
      case 'run-close':
        return close(event.text, toRunError(event, options), event.output as Json | undefined)
      case 'call':
      case 'progress':
      case 'output':
      case 'ask':
      case 'reply':
      case 'entry':
      case 'budget':
      case 'compact':
      case 'subagent':
      case 'handoff':
        return
      default:
        return event satisfies never
    }
  }

  return { onEvent, onError: (error) => close('', error) }
}
