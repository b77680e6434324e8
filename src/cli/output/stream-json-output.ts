import type { RunEvent } from '../../agent/loop/run-event.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { formatResultText } from '../../model/text.ts'
import { escapeJson } from '../../policy/text/sanitize.ts'
import type { END_REASONS, LineType } from './events-schema.ts'
import type { RunOutput, RunError, OutputStreams } from './run-output.ts'
import { formatCallDecision } from './format-call-decision.ts'
import { createRunStats } from './run-stats.ts'
import { toRunError } from './text-output.ts'
import { defined } from '../../model/defined.ts'

/** One JSON object a line, as it happens. Six types are those of Gemini CLI; fields and types are only ever added. */
export function createStreamJsonOutput(sink: OutputStreams, now: () => number = Date.now): RunOutput {
  const stats = createRunStats(now)
  const kinds = new Map<number, string>()

  function writeEvent(type: LineType, fields: JsonObject): void {
    sink.out(`${escapeJson(JSON.stringify({ type, timestamp: new Date(now()).toISOString(), ...fields }))}\n`)
  }

  function close(reason: keyof typeof END_REASONS, error: RunError | undefined): void {
    if (error) writeEvent('error', { severity: 'error', message: error.message })
    const status = error ? 'error' : 'success'
    writeEvent('result', { status, reason, ...(error && { error: { ...error } }), stats: stats.toJson() })
  }

  return {
    onEvent(event) {
      stats.onEvent(event)
      if (event.type === 'run-open')
        writeEvent('init', {
          session_id: event.session,
          model: event.model,
          provider: event.provider,
          prompt_id: event.prompt,
        })
      else if (event.type === 'entry' && event.entry.kind === 'user') {
        writeEvent('message', {
          role: 'user',
          content: event.entry.parts.map((part) => (part.kind === 'text' ? part.text : `(${part.mime})`)).join('\n'),
        })
      } else if (event.type === 'turn') writeTurnEvent(event, writeEvent, kinds)
      else if (event.type === 'call') writeCallEvent(event, writeEvent)
      else if (event.type === 'ask')
        writeEvent('ask', {
          ask_id: event.ask.id,
          tool_id: event.ask.call,
          tool_name: event.ask.tool,
          details: event.ask.details as unknown as Json,
        })
      else if (event.type === 'budget')
        writeEvent('usage', { ...event.usage, cost_usd: event.cost ?? null, turns: event.turns })
      else if (event.type === 'compact')
        writeEvent('compact', { before_tokens: event.beforeTokens, after_tokens: event.afterTokens, done: event.done })
      else if (event.type === 'notice') writeEvent('error', { severity: 'warning', message: event.text })
      else if (event.type === 'run-close') {
        if (event.plan !== undefined) writeEvent('message', { role: 'assistant', content: event.plan, plan: true })
        close(event.reason, toRunError(event))
      }
    },
    onError: (error) => close('refused', error),
  }
}

type PrintLine = (type: LineType, fields: JsonObject) => void

function writeTurnEvent(
  { event }: Extract<RunEvent, { type: 'turn' }>,
  writeEvent: PrintLine,
  kinds: Map<number, string>,
): void {
  if (event.type === 'part-open') kinds.set(event.index, event.kind)
  else if (event.type === 'part-delta') {
    const kind = kinds.get(event.index)
    if (kind === 'text') writeEvent('message', { role: 'assistant', content: event.text, delta: true })
    else if (kind === 'reasoning') writeEvent('thought', { content: event.text, delta: true })
  } else if (event.type === 'open' && event.anew)
    writeEvent('retry', { attempt: event.attempt ?? 0, wait_ms: event.wait ?? 0, message: event.fault?.message ?? '' })
  else if (event.type === 'wait')
    writeEvent('wait', {
      host: event.host,
      stage: event.stage,
      waited_ms: Math.round(event.waited),
      limit_ms: event.limit,
    })
  else if (event.type === 'warn')
    writeEvent('error', { severity: 'warning', code: event.warning.code, message: event.warning.message })
  else if (event.type === 'finish') kinds.clear()
}

function writeCallEvent({ call: state }: Extract<RunEvent, { type: 'call' }>, writeEvent: PrintLine): void {
  if (state.status === 'validating') {
    writeEvent('tool_use', { tool_name: state.call.name, tool_id: state.call.id, parameters: state.call.input ?? {} })
  } else if (state.status === 'success' || state.status === 'error' || state.status === 'cancelled') {
    const { result } = state
    const error =
      result.status === 'ok'
        ? {}
        : {
            error: {
              type: result.error?.type ?? result.status,
              message: result.error?.message ?? formatResultText(result),
            },
          }
    writeEvent('tool_result', {
      tool_id: result.id,
      tool_name: result.name,
      status: result.status === 'ok' ? 'success' : 'error',
      output: formatResultText(result),
      ...error,
      ...defined({ decision: state.decision && formatCallDecision(state.decision) }),
      duration_ms: state.ms,
      ...(state.facts?.['exitCode'] !== undefined && { exit_code: state.facts['exitCode'] }),
      ...defined({ display: result.display }),
    })
  }
}
