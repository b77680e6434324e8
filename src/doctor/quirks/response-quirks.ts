import { isObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import type { ServerQuirk } from './quirk-detectors.ts'
import { type AttemptAnalysis, toNonEmptyString } from './attempt-analysis.ts'
import { hasCleanEnd, endsMidBlock } from './transport-quirks.ts'

/** Quirks of a response as a whole: its end, text and token counts. */
export const RESPONSE_QUIRKS: readonly ServerQuirk[] = [
  {
    id: 'finish-missing',
    failureIds: 'T53',
    description: 'ends responses without a finish reason',
    outcome: 'harmful',
    detect: (attempt) =>
      hasCleanEnd(attempt) &&
      attempt.body !== '' &&
      attempt.inspection.finishReasons.length === 0 &&
      !endsMidBlock(attempt),
  },
  {
    id: 'finish-repeated',
    failureIds: 'T56',
    description: 'sends more than one finish reason',
    detect: ({ inspection }) => inspection.finishReasons.length > 1,
  },
  {
    id: 'finish-wrong',
    failureIds: 'T51, T52, T54',
    description: 'sends a wrong finish reason',
    detect: (attempt) => describeWrongFinishReason(attempt) ?? false,
  },
  {
    id: 'no-done',
    failureIds: 'T111',
    description: 'omits [DONE] at the end of a stream',
    wire: 'openai-chat',
    detect: (attempt) =>
      attempt.isSse &&
      hasCleanEnd(attempt) &&
      attempt.inspection.finishReasons.length > 0 &&
      attempt.frames.every(({ kind }) => kind !== 'done'),
  },
  {
    id: 'empty',
    failureIds: 'T57',
    description: 'sends empty responses',
    outcome: 'harmful',
    detect: ({ isLastAttempt, exchange: { turn }, inspection }) =>
      isLastAttempt && turn.finish.reason === 'stop' && turn.parts.length === 0 && inspection.fragments.length === 0,
  },
  {
    id: 'filter',
    failureIds: 'T55, T59',
    description: 'stops responses with a content filter',
    outcome: 'harmful',
    detect: ({ isLastAttempt, exchange }) => isLastAttempt && exchange.turn.finish.reason === 'filter',
  },
  {
    id: 'length',
    failureIds: 'T37, T38',
    description: 'truncates responses before the token limit',
    outcome: 'harmful',
    detect: ({ isLastAttempt, exchange }) => {
      const { turn, request } = exchange
      if (!isLastAttempt || turn.finish.fault) return false
      // A long response may reach the limit of the request.
      const outputTokens = (turn.usage?.output ?? 0) + (turn.usage?.reasoning ?? 0)
      if (turn.finish.reason === 'length') return outputTokens < 0.9 * (request.params?.maxTokens ?? Infinity)
      const isTruncated = turn.parts.some((part) => part.kind === 'call' && part.flaw?.code === 'unfinished')
      return isTruncated && turn.finish.reason !== 'aborted' && 'and reports a normal finish'
    },
  },
  {
    id: 'text-call',
    failureIds: 'T60–T70, T181–T188',
    description: 'returns tool calls as text instead of native calls',
    detect: ({ isLastAttempt, exchange }) => {
      const found = exchange.warnings.filter(({ code }) => TEXT_CALL_CODES.includes(code))
      const dialects = [...new Set(found.flatMap((warning) => warning.dialects ?? []))]
      return isLastAttempt && found.length > 0 && (dialects.length === 0 || `dialect ${dialects.join(', ')}`)
    },
  },
  {
    id: 'think-in-text',
    failureIds: 'T71',
    description: 'returns reasoning inside the text, between <think> and </think>',
    detect: ({ inspection }) => /<think(?:ing)?>/.test(inspection.text),
  },
  {
    id: 'unknown-events',
    failureIds: 'T132, T140',
    description: 'sends unknown event types',
    detect: ({ isLastAttempt, exchange }) =>
      isLastAttempt && exchange.warnings.some(({ code }) => UNKNOWN_EVENT_CODE.test(code)),
  },
  {
    id: 'usage-hostile',
    failureIds: 'T116',
    description: 'sends invalid token counts',
    detect: ({ inspection }) => inspection.usages.some(hasInvalidTokenCount),
  },
]

const TEXT_CALL_CODES = ['written-call', 'fenced-call', 'unread-call']
const UNKNOWN_EVENT_CODE = /^unknown-(?:event|frame|block|part|step|delta)$/

/** The finish reasons of each wire: with calls, without calls, and in either case. */
const FINISH_REASON_PATTERNS: Readonly<Record<WireId, { withCalls?: RegExp; withoutCalls?: RegExp; either: RegExp }>> =
  {
    'openai-chat': {
      withCalls: /^(?:tool_calls|function_call)$/,
      withoutCalls: /^stop$/,
      either: /^(?:length|content_filter)$/,
    },
    anthropic: {
      withCalls: /^tool_use$/,
      withoutCalls: /^(?:end_turn|stop_sequence)$/,
      either: /^(?:max_tokens|refusal|pause_turn|model_context_window_exceeded)$/,
    },
    'openai-responses': { either: /^(?:completed|incomplete|failed|cancelled)$/ },
    interactions: {
      withCalls: /^requires_action$/,
      either:
        /^(?:completed|incomplete|failed|cancelled|budget_exceeded|requires_continuation|safety|recitation|language|spii|blocklist|content_blocked|prohibited_content|image_\w+|malformed_\w+|unexpected_tool_call|too_many_tool_calls)$/,
    },
    gemini: {
      either:
        /^(?:STOP|MAX_TOKENS|SAFETY|RECITATION|LANGUAGE|OTHER|\w*BLOCKLIST|\w*PROHIBITED\w*|SPII|MALFORMED\w*|IMAGE\w*|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|NO_IMAGE)$/,
    },
    'code-assist': { either: /^[A-Z_]*(?:STOP|TOKENS|SAFETY|RECITATION|LANGUAGE|OTHER|LIST|CONTENT|SPII|CALL)$/ },
  }

function describeWrongFinishReason({ wire, inspection, trace }: AttemptAnalysis): string | undefined {
  const finishReason = inspection.finishReasons.at(-1)
  if (finishReason === undefined || trace.status !== 200) return undefined
  const hasCalls = inspection.fragments.some(({ name }) => toNonEmptyString(name) !== undefined)
  const { withCalls, withoutCalls, either } = FINISH_REASON_PATTERNS[wire]
  return either.test(finishReason) || (hasCalls ? withCalls : withoutCalls)?.test(finishReason)
    ? undefined
    : `“${finishReason}” ${hasCalls ? 'beside calls' : 'without a call'}`
}

function hasInvalidTokenCount(usage: unknown): boolean {
  if (!isObject(usage)) return false
  return Object.entries(usage).some(([name, value]) => {
    if (isObject(value)) return hasInvalidTokenCount(value)
    if (!/tokens|tokencount/i.test(name) || value === null || typeof value === 'object') return false
    return typeof value !== 'number' || !(value >= 0) || value > 1e12
  })
}
