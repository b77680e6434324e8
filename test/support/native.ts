import type { Json, JsonObject } from '../../src/model/json.ts'
import type { AssistantPart, NativeData, ModelOrigin } from '../../src/model/turn.ts'
import { sealMark } from './seals.ts'

/** Who made a turn, and how it names its calls. */
export interface Maker {
  readonly wire: ModelOrigin['wire']
  readonly signer: string
  /** The form of call ids, of endpoints that dictate one. */
  readonly ids: 'any' | 'nine' | 'functions'
}

/** Seals a part as its vendor would, in shapes that its decoder produces. `n` picks among them. */
export function sealed(part: AssistantPart, maker: Maker, n: number): AssistantPart {
  // A thought is for its own vendor only, sealed or not.
  const marked =
    part.kind === 'reasoning' && part.text !== ''
      ? { ...part, text: sealMark(maker.wire, maker.signer) + part.text }
      : part
  // Endpoints that dictate ids know no calls of free text.
  if (marked.kind === 'call' && marked.freeform && maker.wire === 'openai-chat' && maker.ids !== 'any') return marked
  const native = SEALS[maker.wire](marked, maker, n)
  return native ? { ...marked, native } : marked
}

/** Gemini signs the first call of a turn, and no other (T118). */
export function signed(parts: readonly AssistantPart[], { wire, signer }: Maker): AssistantPart[] {
  if (wire !== 'gemini' && wire !== 'code-assist') return [...parts]
  const first = parts.findIndex((part) => part.kind === 'call' && part.native)
  return parts.map((part, at) => {
    if (at !== first || part.kind !== 'call' || !part.native) return part
    return { ...part, native: { ...part.native, data: { thoughtSignature: `${sealMark(wire, signer)}call` } } }
  })
}

type Seal = (part: AssistantPart, maker: Maker, n: number) => NativeData | undefined

const SEALS: Record<ModelOrigin['wire'], Seal> = {
  gemini,
  interactions,
  'code-assist': gemini,
  'openai-chat': chat,
  'openai-responses': responses,
  anthropic,
}

/** Parts that only their vendor understands: text that is empty, and carries something in its place. */
export function vendorItems(maker: Maker, n: number): AssistantPart[] {
  const mark = sealMark(maker.wire, maker.signer)
  const part = (data: Json): AssistantPart => ({ kind: 'text', text: '', native: seal(maker, undefined, data) })
  if (maker.wire === 'openai-chat') return []
  if (maker.wire === 'openai-responses') {
    const action = { type: 'search', query: mark, queries: [mark] }
    return [part({ type: 'web_search_call', id: `ws_${mark}${n}`, status: 'completed', action })]
  }
  if (maker.wire === 'anthropic') {
    const id = `srvtoolu_${mark}${n}`
    const use = part({ type: 'server_tool_use', id, name: 'web_search', input: { query: mark } })
    const found = { type: 'web_search_result', url: 'https://example.com', title: mark, encrypted_content: mark }
    const result = part({ type: 'web_search_tool_result', tool_use_id: id, content: [found] })
    return [[use, result], [use], [result]][n % 3] ?? []
  }
  if (maker.wire === 'interactions') {
    const id = `srv_${mark}${n}`
    const call = part({ step: { type: 'google_search_call', id, arguments: { queries: [mark] }, signature: mark } })
    const found = { type: 'google_search_result', call_id: id, result: [{ search_suggestions: mark }], signature: mark }
    return [[call, part({ step: found })], [call], [part({ step: found })]][n % 3] ?? []
  }
  const code = { executableCode: { language: 'PYTHON', code: `print("${mark}")` } }
  const done = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: mark } }
  const answered = [
    { type: 'functionCall', part: { functionCall: { name: mark, args: {} } } },
    { type: 'functionResponse', part: { functionResponse: { name: mark, response: {} } } },
  ]
  return n % 3 === 0
    ? answered.map(part)
    : [part({ type: 'executableCode', part: code }), part({ type: 'codeExecutionResult', part: done })]
}

function seal({ wire, signer }: Maker, id: string | undefined, data?: Json): NativeData {
  return { wire, signer, ...(id !== undefined && { id }), ...(data !== undefined && { data }) }
}

function gemini(part: AssistantPart, maker: Maker, n: number): NativeData | undefined {
  const mark = sealMark(maker.wire, maker.signer)
  if (part.kind !== 'call')
    return n % 3 === 0 ? seal(maker, undefined, { thoughtSignature: `${mark}${n}==` }) : undefined
  // Whether calls have ids depends on the endpoint. Which call is signed is decided for the whole turn.
  return seal(maker, n % 2 === 0 ? `${mark}-${n % 7}` : undefined)
}

function chat(part: AssistantPart, maker: Maker, n: number): NativeData | undefined {
  const mark = sealMark(maker.wire, maker.signer)
  if (part.kind === 'media') return undefined
  if (part.kind === 'text')
    return n % 5 === 0 ? seal(maker, undefined, { content: `<think>${mark}</think>${part.text}` }) : undefined
  if (part.kind === 'reasoning') {
    const field = { field: ['reasoning_content', 'reasoning', 'reasoning_text'][n % 3] ?? '' }
    const details = { details: [{ type: 'reasoning.encrypted', data: mark, format: 'x', index: 0 }] }
    return n % 7 === 0 ? undefined : seal(maker, undefined, n % 2 === 0 ? field : { ...field, ...details })
  }
  const id = {
    any: `call_${mark}${n % 7}`,
    nine: `${mark}${String(n % 1000).padStart(3, '0')}`,
    functions: `functions.${part.name.replaceAll(/[^\w-]/g, '_').slice(0, 20) || 'x'}:${n % 5}`,
  }[maker.ids]
  const extra = n % 3 === 0 ? { extra_content: { google: { thought_signature: mark } } } : undefined
  return seal(maker, id, extra)
}

function responses(part: AssistantPart, maker: Maker, n: number): NativeData | undefined {
  const mark = sealMark(maker.wire, maker.signer)
  if (part.kind === 'media') return undefined
  if (part.kind === 'text')
    return n % 3 === 0 ? seal(maker, undefined, { phase: n % 2 ? 'commentary' : 'final_answer' }) : undefined
  if (part.kind === 'reasoning') {
    const summary = part.text === '' ? [] : [{ type: 'summary_text', text: part.text }]
    const item: JsonObject = { type: 'reasoning', id: `rs_${mark}${n}`, summary, status: 'completed' }
    return n % 4 === 0 ? undefined : seal(maker, undefined, { ...item, encrypted_content: `${mark}${n}` })
  }
  const caller = n % 5 < 2 ? { caller: { type: 'program', caller_id: mark } } : undefined
  return seal(maker, `call_${mark}${n % 7}`, caller)
}

function anthropic(part: AssistantPart, maker: Maker, n: number): NativeData | undefined {
  const mark = sealMark(maker.wire, maker.signer)
  if (part.kind === 'media') return undefined
  if (part.kind === 'reasoning') {
    if (n % 4 === 0) return seal(maker, undefined)
    if (n % 4 === 1 && part.text === '') return seal(maker, undefined, { type: 'redacted_thinking', data: mark })
    return seal(maker, undefined, { type: 'thinking', thinking: part.text, signature: `${mark}${n}` })
  }
  if (part.kind === 'text') {
    const citation = {
      type: 'char_location',
      cited_text: mark,
      document_index: 0,
      document_title: mark,
      start_char_index: 0,
      end_char_index: 1,
    }
    return n % 4 === 0 ? seal(maker, undefined, { type: 'text', citations: [citation] }) : undefined
  }
  const caller = n % 5 === 0 ? { caller: { type: 'code_execution_20250825', tool_id: `srvtoolu_${mark}` } } : undefined
  return seal(maker, `toolu_${mark}${n % 7}`, caller)
}

/** A thought is signed, mostly; text may have citations, and a call has an id. */
function interactions(part: AssistantPart, maker: Maker, n: number): NativeData | undefined {
  const mark = sealMark(maker.wire, maker.signer)
  if (part.kind === 'call') return seal(maker, `call_${mark}${n % 7}`)
  if (part.kind === 'reasoning') {
    const summary = part.text === '' ? {} : { summary: [{ type: 'text', text: part.text }] }
    return seal(
      maker,
      undefined,
      n % 4 === 0 ? undefined : { step: { type: 'thought', ...summary, signature: `${mark}${n}` } },
    )
  }
  if (part.kind === 'media') return n % 2 === 0 ? seal(maker, undefined, { fields: { resolution: 'high' } }) : undefined
  const citation = { type: 'url_citation', url: 'https://example.com', title: mark, start_index: 0, end_index: 1 }
  return n % 4 === 0 ? seal(maker, undefined, { fields: { annotations: [citation] } }) : undefined
}
