import { context, type Context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Fault } from '../model/fault.ts'
import { startFold } from '../model/fold.ts'
import { redactor } from '../model/secret.ts'
import { resultText, textOf } from '../model/text.ts'
import type { TurnEvent } from '../model/event.ts'
import type { Origin } from '../model/turn.ts'
import { type Usage, usageIn } from '../model/usage.ts'
import type { Entry } from '../session/entry.ts'
import type { CallState, Settled } from './call-state.ts'
import type { RunEvent } from './run-event.ts'
import { isSettled } from './schedule.ts'
import type { Attributes, Tracer } from './tracer.ts'
import { NAME, PROVIDERS } from './telemetry-names.ts'

/** Writes what happens in a run as spans: one for the run, in it one for each request and one for each call. */
export interface RunWatcher {
  /** `at` is when it happened, in milliseconds since 1970. */
  see(event: RunEvent, at?: number): void
}

/** What goes along with the spans. */
export interface Wishes {
  readonly prompts?: boolean
  /** Takes secrets out of what was said; without it, whatever has the form of a key. */
  readonly clean?: (text: string) => string
}

type Words = ((text: string) => string) | undefined

/**
 * Starts watching a run. Without `prompts` nothing that anybody said, no arguments and no results are in the spans: only
 * names, sizes, counts and times.
 */
export function watchRun(tracer: Tracer, { prompts = false, clean = redactor().clean }: Wishes = {}): RunWatcher {
  const words = prompts ? clean : undefined
  const around = context.active()
  const tools = new Map<string, { span?: Span; origin?: string }>()
  let run: Span | undefined
  let inside: Context = around
  let common: Attributes = {}
  let chat: Chat | undefined
  let attempts = 0
  let spent: Extract<RunEvent, { type: 'budget' }> | undefined

  const start = (name: string, kind: SpanKind, at: number, attributes: Attributes, where = inside): Span =>
    tracer.startSpan(name, { kind, startTime: at, attributes: { ...common, ...attributes } }, where) as Span

  function open({ session, prompt, model, provider }: Extract<RunEvent, { type: 'run-open' }>, at: number): void {
    common = { [NAME.conversation]: session, [NAME.prompt]: prompt, ...modelOf(provider, model) }
    const attributes = { [NAME.operation]: 'invoke_agent', [NAME.agent]: 'dragoman' }
    run = start('invoke_agent dragoman', SpanKind.INTERNAL, at, attributes, around)
    inside = trace.setSpan(around, run)
  }

  function ask(named: Attributes, at: number): Chat {
    chat?.end(at, {})
    const name = `chat ${String(named[NAME.requestModel] ?? common[NAME.requestModel])}`
    const attributes = { [NAME.operation]: 'chat', [NAME.attempt]: ++attempts, ...named }
    return (chat = startChat(start(name, SpanKind.CLIENT, at, attributes), words))
  }

  function answered(at: number, more: Attributes, fault?: Fault): void {
    chat?.end(at, more, fault)
    chat = undefined
  }

  function seeEntry(entry: Entry, at: number): void {
    if (entry.kind === 'user') {
      const text = textOf(entry.parts)
      run?.setAttribute(NAME.promptLength, text.length)
      if (words) run?.setAttribute(NAME.inputMessages, messages('user', words(text)))
    } else if (entry.kind === 'request') {
      const slash = entry.model.indexOf('/')
      const model = modelOf(entry.model.slice(0, slash), entry.model.slice(slash + 1))
      ask({ ...model, [NAME.requestBytes]: entry.bytes, ...(entry.summary && { [NAME.summary]: true }) }, entry.at)
    } else if (entry.kind === 'compact') {
      const usage = usageIn(entry.usage)
      answered(at, usage ? tokens(usage) : {})
    }
  }

  function seeTurn(event: TurnEvent, at: number): void {
    if (event.type === 'open' && event.anew) {
      answered(at, {}, event.fault)
      return
    }
    // A port of somebody's own may not tell what it sends.
    if (!chat && event.type !== 'open' && event.type !== 'warn') ask({}, at)
    chat?.see(event)
    if (event.type !== 'finish') return
    answered(at, {}, event.fault)
    attempts = 0
  }

  function seeCall(call: CallState, at: number): void {
    const known = tools.get(call.call.id) ?? {}
    tools.set(call.call.id, known)
    if ('tool' in call) known.origin = call.tool.origin
    if (call.status === 'executing' || (isSettled(call) && !known.span)) {
      const attributes = {
        [NAME.operation]: 'execute_tool',
        [NAME.tool]: call.call.name,
        [NAME.toolCall]: call.call.id,
      }
      known.span = start(`execute_tool ${call.call.name}`, SpanKind.INTERNAL, at, attributes)
    }
    if (!isSettled(call)) return
    tools.delete(call.call.id)
    known.span?.setAttributes(settledCall(call, known.origin, words))
    if (call.status === 'error') known.span?.setStatus({ code: SpanStatusCode.ERROR })
    known.span?.end(at)
  }

  function close({ reason, fault }: Extract<RunEvent, { type: 'run-close' }>, at: number): void {
    answered(at, {})
    for (const { span } of tools.values()) span?.end(at)
    tools.clear()
    run?.setAttributes({
      [NAME.reason]: reason,
      ...(spent && { [NAME.turns]: spent.turns, ...tokens(spent.usage) }),
      ...(spent?.cost !== undefined && { [NAME.cost]: spent.cost }),
    })
    if (run && fault) failed(run, fault, words)
    run?.end(at)
    run = undefined
  }

  return {
    see(event, at = Date.now()) {
      if (event.type === 'run-open') open(event, at)
      else if (event.type === 'entry') seeEntry(event.entry, at)
      else if (event.type === 'turn') seeTurn(event.event, at)
      else if (event.type === 'call') seeCall(event.call, at)
      else if (event.type === 'budget') spent = event
      else if (event.type === 'compact' && !event.done) answered(at, {})
      else if (event.type === 'run-close') close(event, at)
    },
  }
}

interface Chat {
  see(event: TurnEvent): void
  end(at: number, more: Attributes, fault?: Fault): void
}

function startChat(span: Span, words: Words): Chat {
  const fold = startFold(NOBODY)
  let model: string | undefined
  return {
    see(event) {
      if (event.type === 'open') model = event.model ?? model
      if (event.type !== 'part-delta') fold.push(event)
    },
    end(at, more, fault) {
      const { turn, id } = fold.end()
      span.setAttributes({
        ...(id !== undefined && { [NAME.responseId]: id }),
        ...(model !== undefined && { [NAME.responseModel]: model }),
        ...(turn.usage && tokens(turn.usage)),
        [NAME.finishReasons]: [fault ? 'error' : turn.finish.reason],
        ...(words &&
          turn.parts.length > 0 && { [NAME.outputMessages]: messages('assistant', words(textOf(turn.parts))) }),
        ...more,
      })
      if (fault) failed(span, fault, words)
      span.end(at)
    },
  }
}

const NOBODY: Origin = { provider: '', wire: 'openai-chat', model: '' }

function failed(span: Span, fault: Fault, words: Words): void {
  span.setAttribute(NAME.errorType, fault.kind)
  if (fault.status !== undefined) span.setAttribute(NAME.httpStatus, fault.status)
  // A vendor's message may repeat what was said to it.
  span.setStatus({ code: SpanStatusCode.ERROR, ...(words && { message: words(fault.message) }) })
}

function settledCall(call: Settled, origin: string | undefined, words: Words): Attributes {
  const { result, facts = {} } = call
  const text = resultText(result)
  const failure = result.status === 'ok' ? undefined : (result.error?.type ?? result.status)
  const figures = Object.entries(facts).flatMap(([key, value]) =>
    typeof value === 'number' ? [[NAME.facts + key, value]] : [],
  )
  return {
    [NAME.toolType]: origin === 'mcp' ? 'extension' : 'function',
    [NAME.toolOrigin]: origin ?? 'unknown',
    [NAME.duration]: call.ms,
    [NAME.success]: result.status === 'ok',
    [NAME.argumentsLength]: call.call.raw.length,
    [NAME.resultLength]: text.length,
    ...(call.decision !== undefined && { [NAME.decision]: decided(call.decision) }),
    ...(failure !== undefined && { [NAME.errorType]: failure }),
    ...(Object.fromEntries(figures) as Attributes),
    ...(words && { [NAME.toolArguments]: words(call.call.raw), [NAME.toolResult]: words(text) }),
    ...(words && result.error && { [NAME.error]: words(result.error.message) }),
  }
}

/** The rule that decided may hold a command; only the kind of the decision goes out. */
function decided(decision: string): string {
  if (decision.startsWith('changed')) return 'modify'
  if (decision.startsWith('denied')) return 'reject'
  return decision === 'allowed by the person' ? 'accept' : 'auto_accept'
}

function modelOf(provider: string, model: string): Attributes {
  return { [NAME.provider]: PROVIDERS[provider] ?? provider, [NAME.requestModel]: model }
}

/** The conventions count what was cached and what was thought inside the whole. */
function tokens({ input, cacheRead, cacheWrite, output, reasoning }: Usage): Attributes {
  return {
    [NAME.inputTokens]: input + cacheRead + cacheWrite,
    [NAME.outputTokens]: output + reasoning,
    [NAME.cacheRead]: cacheRead,
    [NAME.cacheWrite]: cacheWrite,
    [NAME.reasoning]: reasoning,
  }
}

function messages(role: string, text: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content: text }] }])
}
