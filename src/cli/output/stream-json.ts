import type { RunEvent } from '../../agent/run-event.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { resultText } from '../../model/text.ts'
import { safeJson } from '../../policy/terminal.ts'
import type { END_REASONS, LineType } from './events-schema.ts'
import type { Output, Refused, Sink } from './output.ts'
import { startStats } from './stats.ts'
import { errorOf } from './text.ts'

/** One JSON object a line, as it happens. Six types are those of Gemini CLI; fields and types are only ever added. */
export function streamJsonOutput(sink: Sink, now: () => number = Date.now): Output {
  const stats = startStats(now)
  const kinds = new Map<number, string>()

  function line(type: LineType, fields: JsonObject): void {
    sink.out(`${safeJson(JSON.stringify({ type, timestamp: new Date(now()).toISOString(), ...fields }))}\n`)
  }

  function close(reason: keyof typeof END_REASONS, error: Refused | undefined): void {
    if (error) line('error', { severity: 'error', message: error.message })
    const status = error ? 'error' : 'success'
    line('result', { status, reason, ...(error && { error: { ...error } }), stats: stats.end() })
  }

  return {
    show(event) {
      stats.count(event)
      if (event.type === 'run-open')
        line('init', {
          session_id: event.session,
          model: event.model,
          provider: event.provider,
          prompt_id: event.prompt,
        })
      else if (event.type === 'entry' && event.entry.kind === 'user') {
        line('message', {
          role: 'user',
          content: event.entry.parts.map((part) => (part.kind === 'text' ? part.text : `(${part.mime})`)).join('\n'),
        })
      } else if (event.type === 'turn') turn(event, line, kinds)
      else if (event.type === 'call') call(event, line)
      else if (event.type === 'ask')
        line('ask', {
          ask_id: event.ask.id,
          tool_id: event.ask.call,
          tool_name: event.ask.tool,
          details: event.ask.details as unknown as Json,
        })
      else if (event.type === 'budget')
        line('usage', { ...event.usage, cost_usd: event.cost ?? null, turns: event.turns })
      else if (event.type === 'compact')
        line('compact', { before_tokens: event.beforeTokens, after_tokens: event.afterTokens, done: event.done })
      else if (event.type === 'notice') line('error', { severity: 'warning', message: event.text })
      else if (event.type === 'run-close') {
        if (event.plan !== undefined) line('message', { role: 'assistant', content: event.plan, plan: true })
        close(event.reason, errorOf(event))
      }
    },
    refuse: (error) => close('refused', error),
  }
}

type PrintLine = (type: LineType, fields: JsonObject) => void

function turn({ event }: Extract<RunEvent, { type: 'turn' }>, line: PrintLine, kinds: Map<number, string>): void {
  if (event.type === 'part-open') kinds.set(event.index, event.kind)
  else if (event.type === 'part-delta') {
    const kind = kinds.get(event.index)
    if (kind === 'text') line('message', { role: 'assistant', content: event.text, delta: true })
    else if (kind === 'reasoning') line('thought', { content: event.text, delta: true })
  } else if (event.type === 'open' && event.anew)
    line('retry', { attempt: event.attempt ?? 0, wait_ms: event.wait ?? 0, message: event.fault?.message ?? '' })
  else if (event.type === 'wait')
    line('wait', { host: event.host, stage: event.stage, waited_ms: Math.round(event.waited), limit_ms: event.limit })
  else if (event.type === 'warn')
    line('error', { severity: 'warning', code: event.warning.code, message: event.warning.message })
  else if (event.type === 'finish') kinds.clear()
}

function call({ call: state }: Extract<RunEvent, { type: 'call' }>, line: PrintLine): void {
  if (state.status === 'validating') {
    line('tool_use', { tool_name: state.call.name, tool_id: state.call.id, parameters: state.call.input ?? {} })
  } else if (state.status === 'success' || state.status === 'error' || state.status === 'cancelled') {
    const { result } = state
    const error =
      result.status === 'ok'
        ? {}
        : { error: { type: result.error?.type ?? result.status, message: result.error?.message ?? resultText(result) } }
    line('tool_result', {
      tool_id: result.id,
      tool_name: result.name,
      status: result.status === 'ok' ? 'success' : 'error',
      output: resultText(result),
      ...error,
      ...(state.decision !== undefined && { decision: state.decision }),
      duration_ms: state.ms,
      ...(state.facts?.['exitCode'] !== undefined && { exit_code: state.facts['exitCode'] }),
      ...(result.display !== undefined && { display: result.display }),
    })
  }
}
