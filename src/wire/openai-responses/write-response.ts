import { defined } from '../../model/defined.ts'
import { filterObjects, isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { AssistantPart, CallPart, Finish } from '../../model/turn.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'
import { createOpenaiErrorBody } from '../errors/openai-error-body.ts'
import { createFieldFilter } from '../other-fields.ts'
import { mergeObjects } from '../provider-options.ts'
import type { PartStart, ResponseMetadata, ResponseWriter, WrittenResponseFrame } from '../response-writer.ts'
import { addIdPrefix, createResponseStream, getNativeData, getResponseFields } from '../response-writer.ts'
import { createCallItemWriter } from './written-calls.ts'

export const responsesResponseWriter: ResponseWriter = {
  startStream(head) {
    let sequence = 0
    const frame = (type: string, fields: JsonObject): WrittenResponseFrame => ({
      event: type,
      data: { type, ...fields, sequence_number: sequence++ },
    })
    const writer = createItemWriter(head)
    // A text may turn out to be an item of another kind, so it is announced with its first piece.
    let isAnnounced = false
    const announceText = (at: number, part: TextStart): WrittenResponseFrame[] => {
      if (isAnnounced) return []
      isAnnounced = true
      const { place, names, piece } = getTextEvents(head, at, part)
      const item = writer.createEmptyText(at, part.kind)
      const added = frame('response.output_item.added', { output_index: at, item })
      return [added, frame(`response.${names.part}.added`, { ...place, part: piece('') })]
    }
    const writeWholeItem = (at: number, item: JsonObject) =>
      ['added', 'done'].map((event) => frame(`response.output_item.${event}`, { output_index: at, item }))
    return createResponseStream({
      begin() {
        const response = createResponseBody(head, { status: 'in_progress' })
        return [frame('response.created', { response }), frame('response.in_progress', { response })]
      },
      openPart(at, part) {
        isAnnounced = false
        if (part.kind === 'reasoning') return announceText(at, part)
        if (part.kind !== 'call') return []
        const item = writer.calls.createEmpty(createItemId(head, at, 'call'), part.name, part.id)
        return [frame('response.output_item.added', { output_index: at, item })]
      },
      addDelta(at, part, text) {
        if (part.kind === 'media') return []
        if (part.kind === 'call') {
          if (!writer.calls.canStream(part.name)) return []
          return [frame('response.function_call_arguments.delta', { ...getCallPosition(head, at), delta: text })]
        }
        const { place, names, extra } = getTextEvents(head, at, part)
        return [...announceText(at, part), frame(`response.${names.text}.delta`, { ...place, delta: text, ...extra })]
      },
      closePart(at, part) {
        if (part.kind === 'media') return []
        const done = frame.bind(undefined, 'response.output_item.done')
        const item = writer.createWhole(at, part)
        if (part.kind === 'call')
          return [...listArgumentEvents(getCallPosition(head, at), part, item, frame), done({ output_index: at, item })]
        if (item['type'] !== 'message' && item['type'] !== 'reasoning') return writeWholeItem(at, item)
        const { place, names, piece, extra } = getTextEvents(head, at, part)
        const content = part.kind === 'text' ? (filterObjects(item['content'])[0] as JsonObject) : piece(part.text)
        return [
          ...announceText(at, part),
          frame(`response.${names.text}.done`, { ...place, [names.field]: part.text, ...extra }),
          frame(`response.${names.part}.done`, { ...place, part: content }),
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

/** What is known of a text when it starts. */
type TextStart = Pick<Extract<PartStart, { kind: 'text' }>, 'kind' | 'refusal'> | { readonly kind: 'reasoning' }

function getTextEvents(head: ResponseMetadata, at: number, part: TextStart) {
  const place = { item_id: createItemId(head, at, part.kind), output_index: at }
  if (part.kind === 'text') {
    const names = part.refusal
      ? { part: 'content_part', text: 'refusal', field: 'refusal' }
      : { part: 'content_part', text: 'output_text', field: 'text' }
    const piece = part.refusal ? createRefusal : createOutputText
    return { place: { ...place, content_index: 0 }, names, piece, extra: part.refusal ? {} : { logprobs: [] } }
  }
  const names = { part: 'reasoning_summary_part', text: 'reasoning_summary_text', field: 'text' }
  const piece = (text: string): JsonObject => ({ type: 'summary_text', text })
  return { place: { ...place, summary_index: 0 }, names, piece, extra: {} }
}

function getCallPosition(head: ResponseMetadata, at: number): JsonObject {
  return { item_id: createItemId(head, at, 'call'), output_index: at }
}

function createItemId({ id }: ResponseMetadata, at: number, kind: 'text' | 'reasoning' | 'call'): string {
  return `${{ text: 'msg', reasoning: 'rs', call: 'fc' }[kind]}_${id}_i${at}`
}

/** The events that end the arguments of a call, as its kind has them; free text is sent in one piece. */
function listArgumentEvents(
  place: JsonObject,
  { raw }: CallPart,
  { type, name, input }: JsonObject,
  frame: (type: string, fields: JsonObject) => WrittenResponseFrame,
): WrittenResponseFrame[] {
  if (type === 'tool_search_call') return []
  if (type !== 'custom_tool_call')
    return [frame('response.function_call_arguments.done', { ...place, name: name ?? '', arguments: raw })]
  return [
    frame('response.custom_tool_call_input.delta', { ...place, delta: input ?? '' }),
    frame('response.custom_tool_call_input.done', { ...place, input: input ?? '' }),
  ]
}

function createItemWriter(head: ResponseMetadata) {
  const withEncrypted = wantsEncryptedReasoning(head)
  const calls = createCallItemWriter(head.request)
  return {
    calls,
    createEmptyText(at: number, kind: 'text' | 'reasoning'): JsonObject {
      const id = createItemId(head, at, kind)
      if (kind === 'reasoning') return { id, type: 'reasoning', summary: [] }
      return { id, type: 'message', status: 'in_progress', content: [], role: 'assistant' }
    },
    /** An item of the vendor as it was; with the native data that it had otherwise. */
    createWhole(at: number, part: Exclude<AssistantPart, { kind: 'media' }>, isCut = false): JsonObject {
      const id = createItemId(head, at, part.kind)
      if (part.kind === 'call') return calls.createWhole(id, part)
      const data = getNativeData(part, 'openai-responses')
      if (part.kind === 'reasoning') {
        const { encrypted_content, ...others } = data
        const encryptedField = withEncrypted && encrypted_content !== undefined ? { encrypted_content } : {}
        const summary = [{ type: 'summary_text', text: part.text }]
        return { type: 'reasoning', summary, ...others, ...encryptedField, id }
      }
      if (pickItemFields(data)) return data
      const { phase, fields, response } = data
      const piece = part.refusal ? createRefusal(part.text) : createOutputText(part.text)
      const content = [{ ...piece, ...(isObject(fields) && fields) }]
      const status = isCut ? 'incomplete' : 'completed'
      const message = { id, type: 'message', status, content, role: 'assistant' }
      return { ...message, ...defined({ phase }), ...(isObject(response) && response) }
    },
  }
}

/** Of an item that is no message: the data of a message have only these. */
const pickItemFields = createFieldFilter('phase fields response')

function createOutputText(text: string): JsonObject {
  return { type: 'output_text', annotations: [], logprobs: [], text }
}

function createRefusal(refusal: string): JsonObject {
  return { type: 'refusal', refusal }
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
  const writer = createItemWriter(head)
  const echoed = (key: string, other: Json): Json => request[key] ?? other
  const body = {
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
    output: parts.flatMap((part, at) => (part.kind === 'media' ? [] : [writer.createWhole(at, part, isCut)])),
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
  return finish ? mergeObjects(body, getResponseFields(finish, 'openai-responses')['response'] ?? {}) : body
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
