import { context, type Context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { CallDecision } from '../../model/call-decision.ts'
import type { Fault } from '../../model/fault.ts'
import { createTurnFold } from '../../model/fold.ts'
import { createRedactor } from '../../model/security/redactor.ts'
import { formatResultText, joinTextParts } from '../../model/text.ts'
import type { TurnEvent } from '../../model/event.ts'
import type { ModelOrigin } from '../../model/turn.ts'
import { type Usage, parseUsage } from '../../model/usage.ts'
import type { Entry } from '../../session/log/entry.ts'
import type { CallState, FinishedCall } from '../calls/call-state.ts'
import type { RunEvent } from '../loop/run-event.ts'
import { isFinishedCall } from '../calls/schedule.ts'
import type { SpanAttributes, Tracer } from './tracer.ts'
import { SPAN_ATTRIBUTE, OTEL_PROVIDER_NAMES } from './span-attributes.ts'
import { defined } from '../../model/defined.ts'

export interface RunTracer {
  /** `at` is in milliseconds since 1970. */
  onEvent(event: RunEvent, at?: number): void
}

export interface TraceOptions {
  /** Also record prompts, responses, arguments and results. */
  readonly prompts?: boolean
  /** Removes secrets from these; the default removes whatever looks like a key. */
  readonly redact?: (text: string) => string
}

type RedactText = ((text: string) => string) | undefined

/** Writes a span for a run, and in it one for each request and each call. By default only names, sizes and times. */
export function traceRun(
  tracer: Tracer,
  { prompts = false, redact = createRedactor().redact }: TraceOptions = {},
): RunTracer {
  const redactText = prompts ? redact : undefined
  const parentContext = context.active()
  const tools = new Map<string, { span?: Span; origin?: string }>()
  let run: Span | undefined
  let runContext: Context = parentContext
  let common: SpanAttributes = {}
  let chatSpan: ChatSpan | undefined
  let attempts = 0
  let lastBudget: Extract<RunEvent, { type: 'budget' }> | undefined

  const start = (name: string, kind: SpanKind, at: number, attributes: SpanAttributes, parent = runContext): Span =>
    tracer.startSpan(name, { kind, startTime: at, attributes: { ...common, ...attributes } }, parent) as Span

  function startRunSpan(
    { session, prompt, model, provider }: Extract<RunEvent, { type: 'run-open' }>,
    at: number,
  ): void {
    common = {
      [SPAN_ATTRIBUTE.conversation]: session,
      [SPAN_ATTRIBUTE.prompt]: prompt,
      ...toModelAttributes(provider, model),
    }
    const attributes = { [SPAN_ATTRIBUTE.operation]: 'invoke_agent', [SPAN_ATTRIBUTE.agent]: 'dragoman' }
    run = start('invoke_agent dragoman', SpanKind.INTERNAL, at, attributes, parentContext)
    runContext = trace.setSpan(parentContext, run)
  }

  function startChatSpan(chatAttributes: SpanAttributes, at: number): ChatSpan {
    chatSpan?.end(at, {})
    const name = `chat ${String(chatAttributes[SPAN_ATTRIBUTE.requestModel] ?? common[SPAN_ATTRIBUTE.requestModel])}`
    const attributes = { [SPAN_ATTRIBUTE.operation]: 'chat', [SPAN_ATTRIBUTE.attempt]: ++attempts, ...chatAttributes }
    return (chatSpan = createChatSpan(start(name, SpanKind.CLIENT, at, attributes), redactText))
  }

  function endChatSpan(at: number, more: SpanAttributes, fault?: Fault): void {
    chatSpan?.end(at, more, fault)
    chatSpan = undefined
  }

  function onEntry(entry: Entry, at: number): void {
    switch (entry.kind) {
      case 'user': {
        const text = joinTextParts(entry.parts)
        run?.setAttribute(SPAN_ATTRIBUTE.promptLength, text.length)
        if (redactText) run?.setAttribute(SPAN_ATTRIBUTE.inputMessages, formatMessages('user', redactText(text)))
        break
      }
      case 'request': {
        const slash = entry.model.indexOf('/')
        const attributes = {
          ...toModelAttributes(entry.model.slice(0, slash), entry.model.slice(slash + 1)),
          [SPAN_ATTRIBUTE.requestBytes]: entry.bytes,
          ...defined({ [SPAN_ATTRIBUTE.summary]: entry.summary }),
        }
        startChatSpan(attributes, entry.at)
        break
      }
      case 'compact': {
        const usage = parseUsage(entry.usage)
        endChatSpan(at, usage ? toUsageAttributes(usage) : {})
        break
      }
      case 'open':
      case 'note':
      case 'turn':
      case 'intent':
      case 'result':
      case 'ask':
      case 'reply':
      case 'fault':
      case 'change':
      case 'undo':
      case 'close':
        break
      default:
        entry satisfies never
    }
  }

  function onTurnEvent(event: TurnEvent, at: number): void {
    switch (event.type) {
      case 'open':
        if (event.anew) return endChatSpan(at, {}, event.fault)
        break
      case 'part-open':
      case 'part-delta':
      case 'part-close':
      case 'wait':
      case 'usage':
      case 'finish':
        // A custom model may not report its requests.
        if (!chatSpan) startChatSpan({}, at)
        break
      case 'warn':
        break
      default:
        event satisfies never
    }
    chatSpan?.onEvent(event)
    if (event.type !== 'finish') return
    endChatSpan(at, {}, event.fault)
    attempts = 0
  }

  function onCallState(call: CallState, at: number): void {
    const toolSpan = tools.get(call.call.id) ?? {}
    tools.set(call.call.id, toolSpan)
    if ('tool' in call) toolSpan.origin = call.tool.origin
    if (call.status === 'executing' || (isFinishedCall(call) && !toolSpan.span)) {
      const attributes = {
        [SPAN_ATTRIBUTE.operation]: 'execute_tool',
        [SPAN_ATTRIBUTE.tool]: call.call.name,
        [SPAN_ATTRIBUTE.toolCall]: call.call.id,
      }
      toolSpan.span = start(`execute_tool ${call.call.name}`, SpanKind.INTERNAL, at, attributes)
    }
    if (!isFinishedCall(call)) return
    tools.delete(call.call.id)
    toolSpan.span?.setAttributes(toCallAttributes(call, toolSpan.origin, redactText))
    if (call.status === 'error') toolSpan.span?.setStatus({ code: SpanStatusCode.ERROR })
    toolSpan.span?.end(at)
  }

  function endRunSpan({ reason, fault }: Extract<RunEvent, { type: 'run-close' }>, at: number): void {
    endChatSpan(at, {})
    for (const { span } of tools.values()) span?.end(at)
    tools.clear()
    run?.setAttributes({
      [SPAN_ATTRIBUTE.reason]: reason,
      ...(lastBudget && { [SPAN_ATTRIBUTE.turns]: lastBudget.turns, ...toUsageAttributes(lastBudget.usage) }),
      ...(lastBudget?.cost !== undefined && { [SPAN_ATTRIBUTE.cost]: lastBudget.cost }),
    })
    if (run && fault) recordFault(run, fault, redactText)
    run?.end(at)
    run = undefined
  }

  return {
    onEvent(event, at = Date.now()) {
      switch (event.type) {
        case 'run-open':
          return startRunSpan(event, at)
        case 'entry':
          return onEntry(event.entry, at)
        case 'turn':
          return onTurnEvent(event.event, at)
        case 'call':
          return onCallState(event.call, at)
        case 'budget':
          lastBudget = event
          return
        case 'compact':
          if (!event.done) endChatSpan(at, {})
          return
        case 'run-close':
          return endRunSpan(event, at)
        case 'progress':
        case 'ask':
        case 'reply':
        case 'notice':
          return
        default:
          event satisfies never
      }
    },
  }
}

interface ChatSpan {
  onEvent(event: TurnEvent): void
  end(at: number, more: SpanAttributes, fault?: Fault): void
}

function createChatSpan(span: Span, redactText: RedactText): ChatSpan {
  const fold = createTurnFold(UNKNOWN_ORIGIN)
  let model: string | undefined
  return {
    onEvent(event) {
      if (event.type === 'open') model = event.model ?? model
      if (event.type !== 'part-delta') fold.push(event)
    },
    end(at, more, fault) {
      const { turn, id } = fold.end()
      span.setAttributes({
        ...defined({ [SPAN_ATTRIBUTE.responseId]: id, [SPAN_ATTRIBUTE.responseModel]: model }),
        ...(turn.usage && toUsageAttributes(turn.usage)),
        [SPAN_ATTRIBUTE.finishReasons]: [fault ? 'error' : turn.finish.reason],
        ...(redactText &&
          turn.parts.length > 0 && {
            [SPAN_ATTRIBUTE.outputMessages]: formatMessages('assistant', redactText(joinTextParts(turn.parts))),
          }),
        ...more,
      })
      if (fault) recordFault(span, fault, redactText)
      span.end(at)
    },
  }
}

const UNKNOWN_ORIGIN: ModelOrigin = { provider: '', wire: 'openai-chat', model: '' }

function recordFault(span: Span, fault: Fault, redactText: RedactText): void {
  span.setAttribute(SPAN_ATTRIBUTE.errorType, fault.kind)
  if (fault.status !== undefined) span.setAttribute(SPAN_ATTRIBUTE.httpStatus, fault.status)
  // A vendor's message may quote the prompt.
  span.setStatus({ code: SpanStatusCode.ERROR, ...(redactText && { message: redactText(fault.message) }) })
}

function toCallAttributes(call: FinishedCall, origin: string | undefined, redactText: RedactText): SpanAttributes {
  const { result, facts = {} } = call
  const text = formatResultText(result)
  const failure = result.status === 'ok' ? undefined : (result.error?.type ?? result.status)
  const figures = Object.entries(facts).flatMap(([key, value]) =>
    typeof value === 'number' ? [[SPAN_ATTRIBUTE.facts + key, value]] : [],
  )
  return {
    [SPAN_ATTRIBUTE.toolType]: origin === 'mcp' ? 'extension' : 'function',
    [SPAN_ATTRIBUTE.toolOrigin]: origin ?? 'unknown',
    [SPAN_ATTRIBUTE.duration]: call.ms,
    [SPAN_ATTRIBUTE.success]: result.status === 'ok',
    [SPAN_ATTRIBUTE.argumentsLength]: call.call.raw.length,
    [SPAN_ATTRIBUTE.resultLength]: text.length,
    ...defined({
      [SPAN_ATTRIBUTE.decision]: call.decision && toDecisionAttribute(call.decision),
      [SPAN_ATTRIBUTE.errorType]: failure,
    }),
    ...(Object.fromEntries(figures) as SpanAttributes),
    ...(redactText && {
      [SPAN_ATTRIBUTE.toolArguments]: redactText(call.call.raw),
      [SPAN_ATTRIBUTE.toolResult]: redactText(text),
    }),
    ...(redactText && result.error && { [SPAN_ATTRIBUTE.error]: redactText(result.error.message) }),
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
    case 'plan-handed-over':
      return 'auto_accept'
    default:
      return outcome satisfies never
  }
}

function toModelAttributes(provider: string, model: string): SpanAttributes {
  return { [SPAN_ATTRIBUTE.provider]: OTEL_PROVIDER_NAMES[provider] ?? provider, [SPAN_ATTRIBUTE.requestModel]: model }
}

/** The conventions include cached tokens in the input, and reasoning in the output. */
function toUsageAttributes({ input, cacheRead, cacheWrite, output, reasoning }: Usage): SpanAttributes {
  return {
    [SPAN_ATTRIBUTE.inputTokens]: input + cacheRead + cacheWrite,
    [SPAN_ATTRIBUTE.outputTokens]: output + reasoning,
    [SPAN_ATTRIBUTE.cacheRead]: cacheRead,
    [SPAN_ATTRIBUTE.cacheWrite]: cacheWrite,
    [SPAN_ATTRIBUTE.reasoning]: reasoning,
  }
}

function formatMessages(role: string, text: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content: text }] }])
}
