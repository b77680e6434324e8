import type { Json, JsonObject } from '../../model/json.ts'
import type { AssistantPart, Finish } from '../../model/turn.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'
import { createOpenaiErrorBody } from '../errors/openai-error-body.ts'
import type { PartStart, ResponseMetadata, ResponseWriter, WrittenResponseFrame } from '../response-writer.ts'
import { addIdPrefix, createResponseStream, getNativeData, getVendorCallId } from '../response-writer.ts'

export const responsesResponseWriter: ResponseWriter = {
  startStream(head) {
    let sequence = 0
    const frame = (type: string, fields: JsonObject): WrittenResponseFrame => ({
      event: type,
      data: { type, ...fields, sequence_number: sequence++ },
    })
    const includeEncrypted = wantsEncryptedReasoning(head)
    return createResponseStream({
      begin() {
        const response = createResponseBody(head, { status: 'in_progress' })
        return [frame('response.created', { response }), frame('response.in_progress', { response })]
      },
      openPart(at, part) {
        if (part.kind === 'media') return []
        const item = createEmptyItem(head, at, part)
        const added = frame('response.output_item.added', { output_index: at, item })
        if (part.kind === 'call') return [added]
        const { place, names, piece } = getTextEvents(head, at, part.kind)
        return [added, frame(`response.${names.part}.added`, { ...place, part: piece('') })]
      },
      addDelta(at, part, text) {
        if (part.kind === 'media') return []
        if (part.kind === 'call')
          return [frame('response.function_call_arguments.delta', { ...getCallPosition(head, at), delta: text })]
        const { place, names, extra } = getTextEvents(head, at, part.kind)
        return [frame(`response.${names.text}.delta`, { ...place, delta: text, ...extra })]
      },
      closePart(at, part) {
        if (part.kind === 'media') return []
        const done = frame.bind(undefined, 'response.output_item.done')
        const item = createWholeItem(head, at, part, includeEncrypted)
        if (part.kind === 'call') {
          const fields = { ...getCallPosition(head, at), name: part.name, arguments: part.raw }
          return [frame('response.function_call_arguments.done', fields), done({ output_index: at, item })]
        }
        const { place, names, piece, extra } = getTextEvents(head, at, part.kind)
        return [
          frame(`response.${names.text}.done`, { ...place, text: part.text, ...extra }),
          frame(`response.${names.part}.done`, { ...place, part: piece(part.text) }),
          done({ output_index: at, item }),
        ]
      },
      end({ finish, parts, usage }) {
        const status = toStatus(finish)
        // An unknown status has the event of a normal end.
        const name = END_STATUSES.has(status) ? status : 'completed'
        return [frame(`response.${name}`, { response: createResponseBody(head, { status, finish, parts, usage }) })]
      },
    })
  },
  writeWhole: ({ parts, finish, usage = NO_USAGE }, head) =>
    createResponseBody(head, { status: toStatus(finish), finish, parts, usage }),
  writeError: createOpenaiErrorBody,
  writeErrorFrame(error) {
    const { code, type } = createOpenaiErrorBody(error)['error'] as JsonObject
    return { event: 'error', data: { type: 'error', code: code ?? type ?? null, message: error.message, param: null } }
  },
}

function wantsEncryptedReasoning({ request }: ResponseMetadata): boolean {
  return Array.isArray(request['include']) && request['include'].includes('reasoning.encrypted_content')
}

function getTextEvents(head: ResponseMetadata, at: number, kind: 'text' | 'reasoning') {
  const place = { item_id: createItemId(head, at, kind), output_index: at }
  if (kind === 'text') {
    const names = { part: 'content_part', text: 'output_text' }
    return { place: { ...place, content_index: 0 }, names, piece: createOutputText, extra: { logprobs: [] } }
  }
  const names = { part: 'reasoning_summary_part', text: 'reasoning_summary_text' }
  const piece = (text: string): JsonObject => ({ type: 'summary_text', text })
  return { place: { ...place, summary_index: 0 }, names, piece, extra: {} }
}

function getCallPosition(head: ResponseMetadata, at: number): JsonObject {
  return { item_id: createItemId(head, at, 'call'), output_index: at }
}

function createItemId({ id }: ResponseMetadata, at: number, kind: 'text' | 'reasoning' | 'call'): string {
  return `${{ text: 'msg', reasoning: 'rs', call: 'fc' }[kind]}_${id}_i${at}`
}

function createEmptyItem(head: ResponseMetadata, at: number, part: Exclude<PartStart, { kind: 'media' }>): JsonObject {
  const id = createItemId(head, at, part.kind)
  if (part.kind === 'reasoning') return { id, type: 'reasoning', summary: [] }
  if (part.kind === 'text') return { id, type: 'message', status: 'in_progress', content: [], role: 'assistant' }
  return createCallItem(id, part.name, part.id, '', 'in_progress')
}

function createWholeItem(
  head: ResponseMetadata,
  at: number,
  part: Exclude<AssistantPart, { kind: 'media' }>,
  withEncrypted: boolean,
  isCut = false,
): JsonObject {
  const id = createItemId(head, at, part.kind)
  const status = isCut ? 'incomplete' : 'completed'
  if (part.kind === 'reasoning') {
    const { encrypted_content } = getNativeData(part, 'openai-responses')
    const encryptedField = withEncrypted && encrypted_content !== undefined ? { encrypted_content } : {}
    return { id, type: 'reasoning', summary: [{ type: 'summary_text', text: part.text }], ...encryptedField }
  }
  if (part.kind === 'text')
    return { id, type: 'message', status, content: [createOutputText(part.text)], role: 'assistant' }
  const { name, raw, flaw } = part
  return createCallItem(id, name, getVendorCallId(part), raw, flaw?.code === 'unfinished' ? 'incomplete' : 'completed')
}

function createCallItem(id: string, name: string, callId: string, raw: string, status: string): JsonObject {
  return { id, type: 'function_call', status, arguments: raw, call_id: addIdPrefix('call_', callId), name }
}

function createOutputText(text: string): JsonObject {
  return { type: 'output_text', annotations: [], logprobs: [], text }
}

function toStatus({ reason, raw }: Finish): string {
  return raw ?? (reason === 'stop' || reason === 'calls' || reason === 'malformed-call' ? 'completed' : 'incomplete')
}

const END_STATUSES = new Set(['completed', 'incomplete', 'failed', 'cancelled'])

/** Only the status, while the response is being written. */
interface Progress {
  readonly status: string
  readonly finish?: Finish
  readonly parts?: readonly AssistantPart[]
  readonly usage?: Usage
}

function createResponseBody(head: ResponseMetadata, { status, finish, parts = [], usage }: Progress): JsonObject {
  const { request } = head
  const isCut = finish?.reason === 'length'
  const echoed = (key: string, other: Json): Json => request[key] ?? other
  return {
    id: addIdPrefix('resp_', head.id),
    object: 'response',
    created_at: head.created,
    status,
    background: false,
    completed_at: finish ? head.created + 1 : null,
    error: null,
    incomplete_details:
      status === 'incomplete' ? { reason: finish?.reason === 'filter' ? 'content_filter' : 'max_output_tokens' } : null,
    instructions: echoed('instructions', null),
    max_output_tokens: echoed('max_output_tokens', null),
    max_tool_calls: null,
    model: head.model,
    output: parts.flatMap((part, at) =>
      part.kind === 'media' ? [] : [createWholeItem(head, at, part, wantsEncryptedReasoning(head), isCut)],
    ),
    parallel_tool_calls: echoed('parallel_tool_calls', true),
    previous_response_id: echoed('previous_response_id', null),
    prompt_cache_key: echoed('prompt_cache_key', null),
    reasoning: echoed('reasoning', { effort: null, summary: null }),
    safety_identifier: null,
    service_tier: 'default',
    store: echoed('store', true),
    temperature: echoed('temperature', 1),
    text: echoed('text', { format: { type: 'text' } }),
    tool_choice: echoed('tool_choice', 'auto'),
    tools: echoed('tools', []),
    top_logprobs: 0,
    top_p: echoed('top_p', 1),
    truncation: 'disabled',
    usage: usage ? toUsageBody(usage) : null,
    user: null,
    metadata: {},
  }
}

function toUsageBody(usage: Usage): JsonObject {
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
