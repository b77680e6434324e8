import type { CallDecision } from '../../model/call-decision.ts'
import { defined } from '../../model/defined.ts'
import { formatResultText } from '../../model/text.ts'
import type { Usage } from '../../model/usage.ts'
import { providers } from '../../provider/index.ts'
import type { FinishedCall } from '../calls/call-state.ts'
import type { SpanAttributes } from './tracer.ts'

/** Removes secrets from a text; undefined if texts are not recorded at all. */
export type TextRedactor = ((text: string) => string) | undefined

export function toCallSpanAttributes(
  call: FinishedCall,
  origin: string | undefined,
  redactText: TextRedactor,
): SpanAttributes {
  const { result, facts = {} } = call
  const text = formatResultText(result)
  const failure = result.status === 'ok' ? undefined : (result.error?.type ?? result.status)
  const figures = Object.entries(facts).flatMap(([key, value]) =>
    typeof value === 'number' ? [[`dragoman.tool.${key}`, value]] : [],
  )
  return {
    'gen_ai.tool.type': origin === 'mcp' ? 'extension' : 'function',
    'dragoman.tool.origin': origin ?? 'unknown',
    'dragoman.tool.duration_ms': call.ms,
    'dragoman.tool.success': result.status === 'ok',
    'dragoman.tool.arguments.length': call.call.raw.length,
    'dragoman.tool.result.length': text.length,
    ...defined({
      'dragoman.tool.decision': call.decision && toDecisionAttribute(call.decision),
      'error.type': failure,
    }),
    ...(Object.fromEntries(figures) as SpanAttributes),
    ...(redactText && {
      'gen_ai.tool.call.arguments': redactText(call.call.raw),
      'gen_ai.tool.call.result': redactText(text),
    }),
    ...(redactText && result.error && { 'dragoman.tool.error': redactText(result.error.message) }),
  }
}

/** Without the rule that decided, because it may quote a command. */
function toDecisionAttribute({ by, outcome }: CallDecision): string {
  switch (outcome) {
    case 'modified':
      return 'modify'
    case 'denied':
      return 'reject'
    case 'allowed':
      return by === 'user' ? 'accept' : 'auto_accept'
    case 'answered':
      return 'accept'
    case 'plan-handed-over':
    case 'unanswered':
      return 'auto_accept'
    default:
      return outcome satisfies never
  }
}

export function toModelSpanAttributes(provider: string, model: string): SpanAttributes {
  const name = providers.find(({ id }) => id === provider)?.labels?.otel ?? provider
  return { 'gen_ai.provider.name': name, 'gen_ai.request.model': model }
}

/** The conventions include cached tokens in the input, and reasoning in the output. */
export function toUsageSpanAttributes({ input, cacheRead, cacheWrite, output, reasoning }: Usage): SpanAttributes {
  return {
    'gen_ai.usage.input_tokens': input + cacheRead + cacheWrite,
    'gen_ai.usage.output_tokens': output + reasoning,
    'gen_ai.usage.cache_read.input_tokens': cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': cacheWrite,
    'gen_ai.usage.reasoning.output_tokens': reasoning,
  }
}

export function formatSpanMessages(role: string, text: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content: text }] }])
}
