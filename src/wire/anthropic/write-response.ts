import { defined } from '../../model/defined.ts'
import { type JsonObject, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { AssistantPart } from '../../model/turn.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'
import { mergeObjects } from '../provider-options.ts'
import type { ResponseMetadata, ResponseWriter } from '../response-writer.ts'
import type { VendorErrorReport, WrittenResponseFrame } from '../response-writer.ts'
import { addIdPrefix, createFinishLabeler, createResponseStream } from '../response-writer.ts'
import { getNativeData, getResponseFields, getVendorCallId } from '../response-writer.ts'
import { markAsRawJson } from '../json/raw-json.ts'

export const anthropicResponseWriter: ResponseWriter = {
  startStream(head) {
    let index = -1
    let isStarted = false
    let usageAtStart = NO_USAGE
    /** What the block has besides its content. */
    let opening: JsonObject = {}
    /** A block starts with its first content, because a block of another type is known only when it is complete. */
    const start = (content_block: JsonObject): WrittenResponseFrame[] => {
      if (isStarted) return []
      isStarted = true
      index++
      return [createFrame('content_block_start', { index, content_block })]
    }
    return createResponseStream({
      begin(usage) {
        usageAtStart = usage
        return [
          createFrame('message_start', {
            message: { ...createMessage(head), usage: { ...toInputUsage(usage), output_tokens: 1 } },
          }),
          createFrame('ping', {}),
        ]
      },
      openPart(_at, part) {
        isStarted = false
        opening = getNativeData(part, 'anthropic')
        if (part.kind !== 'call') return []
        return [
          ...start({ ...createToolUse(part, {}), ...opening }),
          createDeltaFrame(index, { type: 'input_json_delta', partial_json: '' }),
        ]
      },
      addDelta(_at, { kind }, text) {
        if (kind === 'media' || text === '') return []
        const started = kind === 'call' ? [] : start({ ...createEmptyBlock(kind), ...opening })
        return [...started, createDeltaFrame(index, DELTA_BY_KIND[kind](text))]
      },
      closePart(_at, part) {
        const [whole] = createWholeBlocks(part)
        if (!isStarted && !whole) return []
        const isOpaque = !isStarted && whole && !STREAMED_TYPES.has(stringOrEmpty(whole['type']))
        const started =
          part.kind === 'call' || part.kind === 'media'
            ? []
            : start(isOpaque ? whole : { ...createEmptyBlock(part.kind), ...opening })
        const rest = isOpaque ? [] : listClosingDeltas(part).map((delta) => createDeltaFrame(index, delta))
        return [...started, ...rest, createFrame('content_block_stop', { index })]
      },
      end({ finish, usage }) {
        const { message = {} } = getResponseFields(finish, 'anthropic')
        const { context_management, usage: counts, ...others } = message
        const fields = { stop_sequence: null, stop_details: null, container: null, ...others }
        return [
          createFrame('message_delta', {
            delta: { stop_reason: toVendorFinishReason(finish), ...fields },
            usage: mergeObjects(
              { ...(usage !== usageAtStart && toInputCounts(usage)), ...toOutputUsage(usage) },
              objectOrEmpty(counts) as JsonObject,
            ),
            ...defined({ context_management }),
          }),
          createFrame('message_stop', {}),
        ]
      },
    })
  },
  writeWhole({ parts, finish, usage }, head) {
    const { message = {} } = getResponseFields(finish, 'anthropic')
    const body = {
      ...createMessage(head),
      content: parts.flatMap(createWholeBlocks),
      stop_reason: toVendorFinishReason(finish),
      usage: { ...(usage && { ...toInputUsage(usage), ...toOutputUsage(usage) }) },
    }
    return mergeObjects(body, message)
  },
  writeError: createErrorBody,
  writeErrorFrame: (given) => ({
    event: 'error',
    data: { type: 'error', error: createErrorBody(given)['error'] ?? null },
  }),
}

function createFrame(type: string, fields: JsonObject): WrittenResponseFrame {
  return { event: type, data: { type, ...fields } }
}

function createDeltaFrame(index: number, fields: JsonObject): WrittenResponseFrame {
  return createFrame('content_block_delta', { index, delta: fields })
}

const DELTA_BY_KIND: Readonly<Record<Exclude<AssistantPart['kind'], 'media'>, (text: string) => JsonObject>> = {
  text: (text) => ({ type: 'text_delta', text }),
  reasoning: (thinking) => ({ type: 'thinking_delta', thinking }),
  call: (partial_json) => ({ type: 'input_json_delta', partial_json }),
}

function createMessage({ id, model }: ResponseMetadata): JsonObject {
  return {
    id: addIdPrefix('msg_', id),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
  }
}

function createEmptyBlock(kind: 'text' | 'reasoning'): JsonObject {
  return kind === 'text'
    ? { type: 'text', text: '', citations: null }
    : { type: 'thinking', thinking: '', signature: '' }
}

/** The blocks that are written piece by piece; any other is written as it was received. */
const STREAMED_TYPES = new Set(['text', 'thinking', 'tool_use'])

/** What follows the content of a block: its signature, or its citations. */
function listClosingDeltas(part: AssistantPart): JsonObject[] {
  const { signature, citations } = getNativeData(part, 'anthropic')
  if (part.kind === 'reasoning' && typeof signature === 'string') return [{ type: 'signature_delta', signature }]
  if (part.kind !== 'text' || !Array.isArray(citations)) return []
  return citations.map((citation) => ({ type: 'citations_delta', citation }))
}

/** None for a part without content; a block of the vendor that has no other form is written as it was received. */
function createWholeBlocks(part: AssistantPart): JsonObject[] {
  const data = getNativeData(part, 'anthropic')
  const { type } = data
  switch (part.kind) {
    case 'text':
      if (type !== undefined && type !== 'text') return [data]
      return part.text === '' ? [] : [{ type: 'text', text: part.text, citations: null, ...data }]
    case 'reasoning':
      if (type !== undefined && type !== 'thinking') return [data]
      if (part.text === '' && data['signature'] === undefined) return []
      return [{ type: 'thinking', thinking: part.text, signature: '', ...data }]
    case 'call':
      return [{ ...createToolUse({ id: getVendorCallId(part), name: part.name }, markAsRawJson(part.raw)), ...data }]
    case 'media':
      return []
    default:
      return part satisfies never
  }
}

function createToolUse(
  { id, name }: { id: string; name: string },
  input: ReturnType<typeof markAsRawJson>,
): JsonObject {
  return { type: 'tool_use', id: addIdPrefix('toolu_', id), name, input, caller: { type: 'direct' } }
}

const toVendorFinishReason = createFinishLabeler({
  stop: 'end_turn',
  calls: 'tool_use',
  length: 'max_tokens',
  filter: 'refusal',
  'malformed-call': 'tool_use',
  aborted: 'max_tokens',
  fault: 'max_tokens',
})

function toInputUsage(usage: Usage): JsonObject {
  return { ...toInputCounts(usage), service_tier: 'standard' }
}

/** They come again at the end if they were not known at the start. */
function toInputCounts(usage: Usage): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
  }
}

function toOutputUsage(usage: Usage): JsonObject {
  const thinking = usage.reasoning > 0 ? { output_tokens_details: { thinking_tokens: usage.reasoning } } : {}
  return { output_tokens: usage.output + usage.reasoning, ...thinking }
}

function createErrorBody({ status, message: text, code }: VendorErrorReport): JsonObject {
  const type = code ?? ERROR_TYPE_BY_STATUS.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return { type: 'error', error: { type, message: text }, request_id: 'req_dragoman' }
}

const ERROR_TYPE_BY_STATUS: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])
