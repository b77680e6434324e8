import type { JsonObject } from '../../model/json.ts'
import { safeJson } from '../../policy/terminal.ts'
import { errorOf, waitSentence } from './text.ts'
import { visible } from './visible.ts'
import { startStats } from './stats.ts'
import type { Output, Refused, Sink } from './output.ts'

/** One JSON object at the end: the answer, what was used and done, and what went wrong. */
export function jsonOutput(sink: Sink): Output {
  const stats = startStats()
  let session = ''
  const warnings: string[] = []

  function close(response: string, error: Refused | undefined): void {
    const value: JsonObject = {
      session_id: session,
      response,
      stats: stats.end(),
      ...(error && { error: { ...error } }),
      ...(warnings.length > 0 && { warnings }),
    }
    sink.out(`${safeJson(JSON.stringify(value, null, 2))}\n`)
  }

  return {
    show(event) {
      stats.count(event)
      if (event.type === 'run-open') session = event.session
      else if (event.type === 'turn' && event.event.type === 'wait')
        sink.err(`… ${visible(waitSentence(event.event))}\n`)
      else if (event.type === 'notice') warnings.push(event.text)
      else if (event.type === 'run-close') close(event.text, errorOf(event))
    },
    refuse: (error) => close('', error),
  }
}
