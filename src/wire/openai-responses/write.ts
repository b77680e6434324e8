import type { Json, JsonObject } from '../../model/json.ts'
import type { AssistantPart, Finish } from '../../model/turn.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'
import { openaiError } from '../openai-error.ts'
import {
  callIdOf,
  nativeData,
  type PartHead,
  type ResponseCodec,
  type ResponseFrame,
  type ResponseHead,
  streamWith,
  withPrefix,
} from '../response.ts'

/** Writes responses as OpenAI's Responses API sends them. */
export const responsesResponse: ResponseCodec = {
  stream(head) {
    let sequence = 0
    const frame = (type: string, fields: JsonObject): ResponseFrame => ({
      event: type,
      data: { type, ...fields, sequence_number: sequence++ },
    })
    const isAsked = asksForEncrypted(head)
    return streamWith({
      begin() {
        const response = responseBody(head, { status: 'in_progress' })
        return [frame('response.created', { response }), frame('response.in_progress', { response })]
      },
      openPart(at, part) {
        if (part.kind === 'media') return []
        const item = emptyItem(head, at, part)
        const added = frame('response.output_item.added', { output_index: at, item })
        if (part.kind === 'call') return [added]
        const { place, names, piece } = textForm(head, at, part.kind)
        return [added, frame(`response.${names.part}.added`, { ...place, part: piece('') })]
      },
      addDelta(at, part, text) {
        if (part.kind === 'media') return []
        if (part.kind === 'call')
          return [frame('response.function_call_arguments.delta', { ...callPlace(head, at), delta: text })]
        const { place, names, extra } = textForm(head, at, part.kind)
        return [frame(`response.${names.text}.delta`, { ...place, delta: text, ...extra })]
      },
      closePart(at, part) {
        if (part.kind === 'media') return []
        const done = frame.bind(undefined, 'response.output_item.done')
        const item = wholeItem(head, at, part, isAsked)
        if (part.kind === 'call') {
          const fields = { ...callPlace(head, at), name: part.name, arguments: part.raw }
          return [frame('response.function_call_arguments.done', fields), done({ output_index: at, item })]
        }
        const { place, names, piece, extra } = textForm(head, at, part.kind)
        return [
          frame(`response.${names.text}.done`, { ...place, text: part.text, ...extra }),
          frame(`response.${names.part}.done`, { ...place, part: piece(part.text) }),
          done({ output_index: at, item }),
        ]
      },
      end({ finish, parts, usage }) {
        const status = statusOf(finish)
        // A word that nobody knows comes under the name of a plain end.
        const name = STATUSES.has(status) ? status : 'completed'
        return [frame(`response.${name}`, { response: responseBody(head, { status, finish, parts, usage }) })]
      },
    })
  },
  whole: ({ parts, finish, usage = NO_USAGE }, head) =>
    responseBody(head, { status: statusOf(finish), finish, parts, usage }),
  error: openaiError,
  errorFrame(error) {
    const { code, type } = openaiError(error)['error'] as JsonObject
    return { event: 'error', data: { type: 'error', code: code ?? type ?? null, message: error.message, param: null } }
  },
}

function asksForEncrypted({ request }: ResponseHead): boolean {
  return Array.isArray(request['include']) && request['include'].includes('reasoning.encrypted_content')
}

/** How the events of a text or a thought are named and placed. */
function textForm(head: ResponseHead, at: number, kind: 'text' | 'reasoning') {
  if (kind === 'text')
    return {
      place: { item_id: itemId(head, at, kind), output_index: at, content_index: 0 },
      names: { part: 'content_part', text: 'output_text' },
      piece: outputText,
      extra: { logprobs: [] },
    }
  return {
    place: { item_id: itemId(head, at, kind), output_index: at, summary_index: 0 },
    names: { part: 'reasoning_summary_part', text: 'reasoning_summary_text' },
    piece: (text: string): JsonObject => ({ type: 'summary_text', text }),
    extra: {},
  }
}

function callPlace(head: ResponseHead, at: number): JsonObject {
  return { item_id: itemId(head, at, 'call'), output_index: at }
}

function itemId({ id }: ResponseHead, at: number, kind: 'text' | 'reasoning' | 'call'): string {
  return `${{ text: 'msg', reasoning: 'rs', call: 'fc' }[kind]}_${id}_i${at}`
}

function emptyItem(head: ResponseHead, at: number, part: Exclude<PartHead, { kind: 'media' }>): JsonObject {
  const id = itemId(head, at, part.kind)
  if (part.kind === 'reasoning') return { id, type: 'reasoning', summary: [] }
  if (part.kind === 'text') return { id, type: 'message', status: 'in_progress', content: [], role: 'assistant' }
  return callItem(id, { ...part, raw: '', status: 'in_progress' })
}

function wholeItem(
  head: ResponseHead,
  at: number,
  part: Exclude<AssistantPart, { kind: 'media' }>,
  withEncrypted: boolean,
  isCut = false,
): JsonObject {
  const id = itemId(head, at, part.kind)
  const status = isCut ? 'incomplete' : 'completed'
  if (part.kind === 'reasoning') {
    const { encrypted_content } = nativeData(part, 'openai-responses')
    const sealed = withEncrypted && encrypted_content !== undefined ? { encrypted_content } : {}
    return { id, type: 'reasoning', summary: [{ type: 'summary_text', text: part.text }], ...sealed }
  }
  if (part.kind === 'text') return { id, type: 'message', status, content: [outputText(part.text)], role: 'assistant' }
  const isUnfinished = part.flaw?.code === 'unfinished'
  return callItem(id, {
    id: callIdOf(part),
    name: part.name,
    raw: part.raw,
    status: isUnfinished ? 'incomplete' : 'completed',
  })
}

function callItem(
  id: string,
  call: { readonly id: string; readonly name: string; readonly raw: string; readonly status: string },
): JsonObject {
  const { name, raw, status } = call
  return { id, type: 'function_call', status, arguments: raw, call_id: withPrefix('call_', call.id), name }
}

function outputText(text: string): JsonObject {
  return { type: 'output_text', annotations: [], logprobs: [], text }
}

function statusOf({ reason, raw }: Finish): string {
  return raw ?? (reason === 'stop' || reason === 'calls' || reason === 'malformed-call' ? 'completed' : 'incomplete')
}

const STATUSES = new Set(['completed', 'incomplete', 'failed', 'cancelled'])

interface ResponseState {
  readonly status: string
  /** Absent while the response is being written. */
  readonly finish?: Finish
  readonly parts?: readonly AssistantPart[]
  readonly usage?: Usage
}

function responseBody(head: ResponseHead, { status, finish, parts = [], usage }: ResponseState): JsonObject {
  const { request } = head
  const isCut = finish?.reason === 'length'
  const repeated = (key: string, other: Json): Json => request[key] ?? other
  return {
    id: withPrefix('resp_', head.id),
    object: 'response',
    created_at: head.created,
    status,
    background: false,
    completed_at: finish ? head.created + 1 : null,
    error: null,
    incomplete_details:
      status === 'incomplete' ? { reason: finish?.reason === 'filter' ? 'content_filter' : 'max_output_tokens' } : null,
    instructions: repeated('instructions', null),
    max_output_tokens: repeated('max_output_tokens', null),
    max_tool_calls: null,
    model: head.model,
    output: parts.flatMap((part, at) =>
      part.kind === 'media' ? [] : [wholeItem(head, at, part, asksForEncrypted(head), isCut)],
    ),
    parallel_tool_calls: repeated('parallel_tool_calls', true),
    previous_response_id: repeated('previous_response_id', null),
    prompt_cache_key: repeated('prompt_cache_key', null),
    reasoning: repeated('reasoning', { effort: null, summary: null }),
    safety_identifier: null,
    service_tier: 'default',
    store: repeated('store', true),
    temperature: repeated('temperature', 1),
    text: repeated('text', { format: { type: 'text' } }),
    tool_choice: repeated('tool_choice', 'auto'),
    tools: repeated('tools', []),
    top_logprobs: 0,
    top_p: repeated('top_p', 1),
    truncation: 'disabled',
    usage: usage ? usageOf(usage) : null,
    user: null,
    metadata: {},
  }
}

function usageOf(usage: Usage): JsonObject {
  const input = usage.input + usage.cacheRead + usage.cacheWrite
  const output = usage.output + usage.reasoning
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(usage.cacheWrite > 0 && { cache_write_tokens: usage.cacheWrite }),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  }
}
