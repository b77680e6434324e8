import { context, type Context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Fault } from '../../model/fault.ts'
import { createTurnFold } from '../../model/fold.ts'
import { createRedactor } from '../../model/security/redactor.ts'
import { joinTextParts } from '../../model/text.ts'
import type { TurnEvent } from '../../model/event.ts'
import type { CallPart, ModelOrigin } from '../../model/turn.ts'
import { parseUsage } from '../../model/usage.ts'
import type { Entry } from '../../session/log/entry.ts'
import type { CallState } from '../calls/call-state.ts'
import type { RunEvent } from '../loop/run-event.ts'
import { isFinishedCall } from '../calls/schedule.ts'
import {
  formatSpanMessages,
  type TextRedactor,
  toCallSpanAttributes,
  toModelSpanAttributes,
  toUsageSpanAttributes,
} from './span-attributes.ts'
import type { SpanAttributes, Tracer } from './tracer.ts'
import { defined } from '../../model/defined.ts'

export interface RunTracer {
  /** `at` is in milliseconds since 1970. */
  onEvent(event: RunEvent, at?: number): void
  /** Runs a tool inside of the span of its call. */
  readonly runTool: <T>(call: CallPart, run: () => Promise<T>) => Promise<T>
}

interface TraceOptions {
  /** Also record prompts, responses, arguments and results. */
  readonly prompts?: boolean
  /** Removes secrets from these; the default removes whatever looks like a key. */
  readonly redact?: (text: string) => string
}

/**
 * Writes a span for a run, and in it one for each request and each call. By default only names, sizes and times.
 * Attributes are those of OpenTelemetry's conventions for generative AI where there is one, and our own for the rest.
 */
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
      'gen_ai.conversation.id': session,
      'dragoman.prompt.id': prompt,
      ...toModelSpanAttributes(provider, model),
    }
    const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'dragoman' }
    run = start('invoke_agent dragoman', SpanKind.INTERNAL, at, attributes, parentContext)
    runContext = trace.setSpan(parentContext, run)
  }

  function startChatSpan(chatAttributes: SpanAttributes, at: number): ChatSpan {
    chatSpan?.end(at, {})
    const name = `chat ${String(chatAttributes['gen_ai.request.model'] ?? common['gen_ai.request.model'])}`
    const attributes = { 'gen_ai.operation.name': 'chat', 'dragoman.request.attempt': ++attempts, ...chatAttributes }
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
        run?.setAttribute('dragoman.prompt.length', text.length)
        if (redactText) run?.setAttribute('gen_ai.input.messages', formatSpanMessages('user', redactText(text)))
        break
      }
      case 'request': {
        const slash = entry.model.indexOf('/')
        const attributes = {
          ...toModelSpanAttributes(entry.model.slice(0, slash), entry.model.slice(slash + 1)),
          'dragoman.request.bytes': entry.bytes,
          ...defined({ 'dragoman.request.summary': entry.summary }),
        }
        startChatSpan(attributes, entry.at)
        break
      }
      case 'compact': {
        const usage = parseUsage(entry.usage)
        endChatSpan(at, usage ? toUsageSpanAttributes(usage) : {})
        break
      }
      case 'open':
      case 'settings':
      case 'note':
      case 'turn':
      case 'intent':
      case 'subagent':
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

  /** The span of a call; it is started once, by the tool or by the event, whichever comes first. */
  function startToolSpan({ id, name }: CallPart, at: number): Span {
    const toolSpan = tools.get(id) ?? {}
    tools.set(id, toolSpan)
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': id,
    }
    return (toolSpan.span ??= start(`execute_tool ${name}`, SpanKind.INTERNAL, at, attributes))
  }

  function onCallState(call: CallState, at: number): void {
    const toolSpan = tools.get(call.call.id) ?? {}
    tools.set(call.call.id, toolSpan)
    if ('tool' in call) toolSpan.origin = call.tool.origin
    if (call.status === 'executing' || isFinishedCall(call)) startToolSpan(call.call, at)
    if (!isFinishedCall(call)) return
    tools.delete(call.call.id)
    toolSpan.span?.setAttributes(toCallSpanAttributes(call, toolSpan.origin, redactText))
    if (call.status === 'error') toolSpan.span?.setStatus({ code: SpanStatusCode.ERROR })
    toolSpan.span?.end(at)
  }

  function endRunSpan({ reason, fault }: Extract<RunEvent, { type: 'run-close' }>, at: number): void {
    endChatSpan(at, {})
    for (const { span } of tools.values()) span?.end(at)
    tools.clear()
    run?.setAttributes({
      'dragoman.run.reason': reason,
      ...(lastBudget && { 'dragoman.run.turns': lastBudget.turns, ...toUsageSpanAttributes(lastBudget.usage) }),
      ...(lastBudget?.cost !== undefined && { 'dragoman.run.cost_usd': lastBudget.cost }),
    })
    if (run && fault) recordFault(run, fault, redactText)
    run?.end(at)
    run = undefined
  }

  return {
    runTool: (call, work) => context.with(trace.setSpan(runContext, startToolSpan(call, Date.now())), work),
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
        case 'output':
        case 'ask':
        case 'reply':
        case 'notice':
        case 'subagent':
        case 'handoff':
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

function createChatSpan(span: Span, redactText: TextRedactor): ChatSpan {
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
        ...defined({ 'gen_ai.response.id': id, 'gen_ai.response.model': model }),
        ...(turn.usage && toUsageSpanAttributes(turn.usage)),
        'gen_ai.response.finish_reasons': [fault ? 'error' : turn.finish.reason],
        ...(redactText &&
          turn.parts.length > 0 && {
            'gen_ai.output.messages': formatSpanMessages('assistant', redactText(joinTextParts(turn.parts))),
          }),
        ...more,
      })
      if (fault) recordFault(span, fault, redactText)
      span.end(at)
    },
  }
}

const UNKNOWN_ORIGIN: ModelOrigin = { provider: '', wire: 'openai-chat', model: '' }

function recordFault(span: Span, fault: Fault, redactText: TextRedactor): void {
  span.setAttribute('error.type', fault.kind)
  if (fault.status !== undefined) span.setAttribute('http.response.status_code', fault.status)
  // A vendor's message may quote the prompt.
  span.setStatus({ code: SpanStatusCode.ERROR, ...(redactText && { message: redactText(fault.message) }) })
}
