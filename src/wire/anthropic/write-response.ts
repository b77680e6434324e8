import type { JsonObject } from '../../model/json.ts'
import type { AssistantPart } from '../../model/turn.ts'
import type { Usage } from '../../model/usage.ts'
import type { PartStart, ResponseMetadata, ResponseWriter } from '../response-writer.ts'
import type { VendorErrorReport, WrittenResponseFrame } from '../response-writer.ts'
import { addIdPrefix, createFinishLabeler, createResponseStream } from '../response-writer.ts'
import { getNativeData, getVendorCallId } from '../response-writer.ts'
import { markAsRawJson } from '../json/raw-json.ts'

export const anthropicResponseWriter: ResponseWriter = {
  startStream: (head) =>
    createResponseStream({
      begin: (usage) => [
        createFrame('message_start', {
          message: { ...createMessage(head), usage: { ...toInputUsage(usage), output_tokens: 1 } },
        }),
        createFrame('ping', {}),
      ],
      openPart(index, part) {
        const content_block = createEmptyBlock(part)
        if (!content_block) return []
        const start = createFrame('content_block_start', { index, content_block })
        return part.kind === 'call'
          ? [start, createDeltaFrame(index, { type: 'input_json_delta', partial_json: '' })]
          : [start]
      },
      addDelta: (index, { kind }, text) =>
        kind === 'media' ? [] : [createDeltaFrame(index, DELTA_BY_KIND[kind](text))],
      closePart(index, part) {
        const { signature } = getNativeData(part, 'anthropic')
        const stop = part.kind === 'media' ? [] : [createFrame('content_block_stop', { index })]
        if (part.kind !== 'reasoning' || typeof signature !== 'string') return stop
        return [createDeltaFrame(index, { type: 'signature_delta', signature }), ...stop]
      },
      end: ({ finish, usage }) => [
        createFrame('message_delta', {
          delta: {
            stop_reason: toVendorFinishReason(finish),
            stop_sequence: null,
            stop_details: null,
            container: null,
          },
          usage: toOutputUsage(usage),
        }),
        createFrame('message_stop', {}),
      ],
    }),
  writeWhole: ({ parts, finish, usage }, head) => ({
    ...createMessage(head),
    content: parts.flatMap(createWholeBlocks),
    stop_reason: toVendorFinishReason(finish),
    usage: usage ? { ...toInputUsage(usage), ...toOutputUsage(usage) } : {},
  }),
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

function createEmptyBlock(part: PartStart): JsonObject | undefined {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: '', citations: null }
    case 'reasoning':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'call':
      return createToolUse(part, {})
    case 'media':
      return undefined
    default:
      return part satisfies never
  }
}

function createWholeBlocks(part: AssistantPart): JsonObject[] {
  switch (part.kind) {
    case 'text':
      return [{ type: 'text', text: part.text, citations: null }]
    case 'reasoning':
      return [{ type: 'thinking', thinking: part.text, signature: getNativeData(part, 'anthropic')['signature'] ?? '' }]
    case 'call':
      return [createToolUse({ id: getVendorCallId(part), name: part.name }, markAsRawJson(part.raw))]
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
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    service_tier: 'standard',
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
