import type { JsonObject } from '../../model/json.ts'
import type { AssistantPart, Finish } from '../../model/turn.ts'
import type { Usage } from '../../model/usage.ts'
import {
  callIdOf,
  finishWord,
  type FinishWords,
  nativeData,
  type PartHead,
  type ResponseCodec,
  type ResponseError,
  type ResponseFrame,
  type ResponseHead,
  streamWith,
  withPrefix,
} from '../response.ts'
import { verbatim } from '../verbatim.ts'

/** Writes messages as Anthropic's API sends them. */
export const anthropicResponse: ResponseCodec = {
  stream: (head) =>
    streamWith({
      begin: (usage) => [
        frame('message_start', { message: { ...message(head), usage: { ...inputUsage(usage), output_tokens: 1 } } }),
        frame('ping', {}),
      ],
      openPart(index, part) {
        const content_block = emptyBlock(part)
        if (!content_block) return []
        const start = frame('content_block_start', { index, content_block })
        return part.kind === 'call' ? [start, delta(index, { type: 'input_json_delta', partial_json: '' })] : [start]
      },
      addDelta: (index, { kind }, text) => (kind === 'media' ? [] : [delta(index, DELTAS[kind](text))]),
      closePart(index, part) {
        const { signature } = nativeData(part, 'anthropic')
        const stop = part.kind === 'media' ? [] : [frame('content_block_stop', { index })]
        if (part.kind !== 'reasoning' || typeof signature !== 'string') return stop
        return [delta(index, { type: 'signature_delta', signature }), ...stop]
      },
      end: ({ finish, usage }) => [
        frame('message_delta', {
          delta: { stop_reason: finishWord(finish, WORDS), stop_sequence: null, stop_details: null, container: null },
          usage: outputUsage(usage),
        }),
        frame('message_stop', {}),
      ],
    }),
  whole: ({ parts, finish, usage }, head) => ({
    ...message(head),
    content: parts.flatMap(wholeBlock),
    stop_reason: finishWord(finish, WORDS),
    usage: usage ? { ...inputUsage(usage), ...outputUsage(usage) } : {},
  }),
  error,
  errorFrame: (given) => ({ event: 'error', data: { type: 'error', error: error(given)['error'] ?? null } }),
}

function frame(type: string, fields: JsonObject): ResponseFrame {
  return { event: type, data: { type, ...fields } }
}

function delta(index: number, fields: JsonObject): ResponseFrame {
  return frame('content_block_delta', { index, delta: fields })
}

const DELTAS: Readonly<Record<Exclude<AssistantPart['kind'], 'media'>, (text: string) => JsonObject>> = {
  text: (text) => ({ type: 'text_delta', text }),
  reasoning: (thinking) => ({ type: 'thinking_delta', thinking }),
  call: (partial_json) => ({ type: 'input_json_delta', partial_json }),
}

function message({ id, model }: ResponseHead): JsonObject {
  return {
    id: withPrefix('msg_', id),
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

/** A block as it begins, before its deltas. */
function emptyBlock(part: PartHead): JsonObject | undefined {
  if (part.kind === 'text') return { type: 'text', text: '', citations: null }
  if (part.kind === 'reasoning') return { type: 'thinking', thinking: '', signature: '' }
  return part.kind === 'call' ? toolUse(part, {}) : undefined
}

function wholeBlock(part: AssistantPart): JsonObject[] {
  if (part.kind === 'text') return [{ type: 'text', text: part.text, citations: null }]
  const { signature = '' } = nativeData(part, 'anthropic')
  if (part.kind === 'reasoning') return [{ type: 'thinking', thinking: part.text, signature }]
  return part.kind === 'call' ? [toolUse({ id: callIdOf(part), name: part.name }, verbatim(part.raw))] : []
}

function toolUse({ id, name }: { id: string; name: string }, input: ReturnType<typeof verbatim>): JsonObject {
  return { type: 'tool_use', id: withPrefix('toolu_', id), name, input, caller: { type: 'direct' } }
}

const WORDS: FinishWords = {
  stop: 'end_turn',
  calls: 'tool_use',
  length: 'max_tokens',
  filter: 'refusal',
  'malformed-call': 'tool_use',
  aborted: 'max_tokens',
  fault: 'max_tokens',
} satisfies Record<Finish['reason'], string>

function inputUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    service_tier: 'standard',
  }
}

function outputUsage(usage: Usage): JsonObject {
  const thinking = usage.reasoning > 0 ? { output_tokens_details: { thinking_tokens: usage.reasoning } } : {}
  return { output_tokens: usage.output + usage.reasoning, ...thinking }
}

function error({ status, message: text, code }: ResponseError): JsonObject {
  const type = code ?? ERRORS.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return { type: 'error', error: { type, message: text }, request_id: 'req_dragoman' }
}

const ERRORS: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])
