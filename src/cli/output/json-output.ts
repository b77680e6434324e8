import type { JsonObject } from '../../model/json.ts'
import { escapeJson } from '../../policy/text/sanitize.ts'
import { toRunError, describeWait } from './text-output.ts'
import { escapeForTerminal } from './escape.ts'
import { createRunStats } from './run-stats.ts'
import type { RunOutput, RunError, OutputStreams } from './run-output.ts'

/** One JSON object at the end: the answer, what was used and done, and what went wrong. */
export function createJsonOutput(sink: OutputStreams): RunOutput {
  const stats = createRunStats()
  let session = ''
  const warnings: string[] = []

  function close(response: string, error: RunError | undefined): void {
    const value: JsonObject = {
      session_id: session,
      response,
      stats: stats.toJson(),
      ...(error && { error: { ...error } }),
      ...(warnings.length > 0 && { warnings }),
    }
    sink.out(`${escapeJson(JSON.stringify(value, null, 2))}\n`)
  }

  return {
    onEvent(event) {
      stats.onEvent(event)
      if (event.type === 'run-open') session = event.session
      else if (event.type === 'turn' && event.event.type === 'wait')
        sink.err(`… ${escapeForTerminal(describeWait(event.event))}\n`)
      else if (event.type === 'notice') warnings.push(event.text)
      else if (event.type === 'run-close') close(event.text, toRunError(event))
    },
    onError: (error) => close('', error),
  }
}
