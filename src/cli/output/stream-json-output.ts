import type { CallState, FinishedCall } from '../../agent/calls/call-state.ts'
import { isFinishedCall } from '../../agent/calls/schedule.ts'
import type { RunEvent } from '../../agent/loop/run-event.ts'
import type { CallDecision } from '../../model/call-decision.ts'
import type { TurnEvent } from '../../model/event.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { formatResultText } from '../../model/text.ts'
import { escapeInvisibleInJson } from '../../policy/text/sanitize.ts'
import type { END_REASONS, StreamJsonLineType } from './events-schema.ts'
import type { OutputOptions, RunOutput, RunError, OutputStreams } from './run-output.ts'
import { createRunStats } from './run-stats.ts'
import { toRunError } from './describe-run.ts'
import { defined } from '../../model/defined.ts'

/** One JSON object per line, as it happens. Six types are those of Gemini CLI; fields and types are only ever added. */
export function createStreamJsonOutput(
  sink: OutputStreams,
  options: OutputOptions = {},
  now: () => number = Date.now,
): RunOutput {
  const stats = createRunStats(now)
  const kinds = new Map<number, string>()
  const subagentOutputs = new Map<string, RunOutput>()

  function writeEvent(type: StreamJsonLineType, fields: JsonObject): void {
    sink.out(
      `${escapeInvisibleInJson(JSON.stringify({ type, timestamp: new Date(now()).toISOString(), ...fields }))}\n`,
    )
  }

  function close(reason: keyof typeof END_REASONS, error: RunError | undefined, output?: Json): void {
    if (error) writeEvent('error', { severity: 'error', message: error.message })
    const status = error ? 'error' : 'success'
    writeEvent('result', {
      status,
      reason,
      ...(error && { error: { ...error } }),
      ...defined({ structured_output: output }),
      stats: stats.toJson(),
    })
  }

  function onTurnEvent(event: TurnEvent): void {
    switch (event.type) {
      case 'open':
        if (!event.anew) return
        return writeEvent('retry', {
          attempt: event.attempt ?? 0,
          wait_ms: event.wait ?? 0,
          message: event.fault?.message ?? '',
        })
      case 'part-open':
        kinds.set(event.index, event.kind)
        return
      case 'part-delta': {
        const kind = kinds.get(event.index)
        if (kind === 'text') writeEvent('message', { role: 'assistant', content: event.text, delta: true })
        else if (kind === 'reasoning') writeEvent('thought', { content: event.text, delta: true })
        return
      }
      case 'wait':
        return writeEvent('wait', {
          host: event.host,
          stage: event.stage,
          waited_ms: Math.round(event.waited),
          limit_ms: event.limit,
        })
      case 'warn':
        return writeEvent('error', { severity: 'warning', code: event.warning.code, message: event.warning.message })
      case 'finish':
        return kinds.clear()
      case 'part-close':
      case 'usage':
        return
      default:
        return event satisfies never
    }
  }

  function onEvent(event: RunEvent): void {
    stats.onEvent(event)
    switch (event.type) {
      case 'run-open':
        return writeEvent('init', {
          session_id: event.session,
          model: event.model,
          provider: event.provider,
          prompt_id: event.prompt,
        })
      case 'entry':
        if (event.entry.kind !== 'user') return
        return writeEvent('message', {
          role: 'user',
          content: event.entry.parts.map((part) => (part.kind === 'text' ? part.text : `(${part.mime})`)).join('\n'),
        })
      case 'turn':
        return onTurnEvent(event.event)
      case 'call':
        return onCallState(event.call)
      case 'ask':
        return writeEvent('ask', {
          ask_id: event.ask.id,
          tool_id: event.ask.call,
          tool_name: event.ask.tool,
          details: event.ask.details as unknown as Json,
          ...defined({ asker: event.ask.asker }),
        })
      case 'budget':
        return writeEvent('usage', { ...event.usage, cost_usd: event.cost ?? null, turns: event.turns })
      case 'compact':
        return writeEvent('compact', {
          before_tokens: event.beforeTokens,
          after_tokens: event.afterTokens,
          done: event.done,
        })
      case 'notice':
        return writeEvent('error', { severity: 'warning', message: event.text })
      case 'run-close':
        if (event.plan !== undefined) writeEvent('message', { role: 'assistant', content: event.plan, plan: true })
        return close(event.reason, toRunError(event, options), event.output as Json | undefined)
      case 'subagent':
        return writeSubagentEvent(event)
      case 'progress':
      case 'output':
      case 'reply':
      case 'handoff':
        return
      default:
        return event satisfies never
    }
  }

  /** Each subagent has an output of its own, whose lines are wrapped: no reader takes them for those of the session. */
  function writeSubagentEvent({ session, name, call, event }: Extract<RunEvent, { type: 'subagent' }>): void {
    const output =
      subagentOutputs.get(session) ??
      createStreamJsonOutput(
        {
          ...sink,
          out: (line) =>
            writeEvent('subagent', {
              session_id: session,
              agent: name,
              tool_id: call,
              event: JSON.parse(line) as Json,
            }),
        },
        options,
        now,
      )
    subagentOutputs.set(session, output)
    output.onEvent(event)
  }

  function onCallState(state: CallState): void {
    if (isFinishedCall(state)) return writeEvent('tool_result', toResultFields(state))
    // The other states are of no use to a program: the call exists, or it has a result.
    if (state.status === 'validating')
      writeEvent('tool_use', { tool_name: state.call.name, tool_id: state.call.id, parameters: state.call.input ?? {} })
  }

  return { onEvent, onError: (error) => close('refused', error) }
}

function toResultFields({ result, decision, ms, facts }: FinishedCall): JsonObject {
  const output = formatResultText(result)
  const { type = result.status, message = output } = result.error ?? {}
  return {
    tool_id: result.id,
    tool_name: result.name,
    status: result.status === 'ok' ? 'success' : 'error',
    output,
    ...(result.status !== 'ok' && { error: { type, message } }),
    ...defined({ decision: decision && formatCallDecision(decision) }),
    duration_ms: ms,
    ...defined({ exit_code: facts?.['exitCode'], display: result.display }),
  }
}

function formatCallDecision(decision: CallDecision): string {
  switch (decision.by) {
    case 'policy':
      return `${decision.outcome} by ${decision.rule}`
    case 'user':
      return decision.outcome === 'modified' ? 'changed and allowed by the user' : `${decision.outcome} by the user`
    case 'hook':
      return `${decision.outcome} by a hook`
    case 'earlier-answer':
      return 'allowed by an earlier answer of the user'
    case 'nobody':
      return decision.outcome === 'denied' ? 'denied: nobody to ask' : 'handed over'
    default:
      return decision satisfies never
  }
}
