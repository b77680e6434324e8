import { filterObjects, type Json, type JsonObject, objectOrEmpty } from '../../model/json.ts'
import type { AssistantPart } from '../../model/turn.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'
import { createOpenaiErrorBody } from '../errors/openai-error-body.ts'
import type { ResponseMetadata, ResponseWriter, WrittenResponseFrame } from '../response-writer.ts'
import {
  addIdPrefix,
  createFinishLabeler,
  createResponseStream,
  getFreeformText,
  getVendorCallId,
} from '../response-writer.ts'

/** Reasoning is sent as `reasoning_content`, as compatible servers do. */
export const chatResponseWriter: ResponseWriter = {
  startStream(head) {
    const fields = createHeadFields(head, 'chat.completion.chunk')
    const wantsUsage = objectOrEmpty(head.request['stream_options'])['include_usage'] === true
    const usageField = wantsUsage ? { usage: null } : {}
    const isFreeform = createFreeformTest(head.request)
    let calls = 0
    const frame = (delta: JsonObject, finish: string | null = null): WrittenResponseFrame => ({
      data: { ...fields, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...usageField },
    })
    const callFrame = (index: number, call: JsonObject): WrittenResponseFrame =>
      frame({ tool_calls: [{ index, ...call }] })
    return createResponseStream({
      begin: () => [frame({ role: 'assistant', content: '', refusal: null })],
      openPart: (_at, part) =>
        part.kind === 'call' ? [callFrame(calls++, toToolCall(part, '', isFreeform(part.name)))] : [],
      addDelta(_at, part, text) {
        const { kind } = part
        // Free text is an argument on other wires, so it is sent once it is complete.
        if (kind === 'call')
          return isFreeform(part.name) ? [] : [callFrame(calls - 1, { function: { arguments: text } })]
        return kind === 'media' ? [] : [frame({ [kind === 'text' ? 'content' : 'reasoning_content']: text })]
      },
      closePart: (_at, part) =>
        part.kind === 'call' && isFreeform(part.name)
          ? [callFrame(calls - 1, { custom: { input: getFreeformText(part) } })]
          : [],
      end: ({ finish, usage }) => [
        frame({}, toVendorFinishReason(finish)),
        ...(wantsUsage
          ? [{ data: { ...fields, choices: [], usage: toUsageBody(usage) }, isTrailer: true as const }]
          : []),
        { data: null, raw: '[DONE]', isTrailer: true },
      ],
    })
  },
  writeWhole({ parts, finish, usage = NO_USAGE }, head) {
    const calls = parts.filter((part) => part.kind === 'call')
    const isFreeform = createFreeformTest(head.request)
    const [text, reasoning] = [joinTexts(parts, 'text'), joinTexts(parts, 'reasoning')]
    const message = {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      refusal: null,
      annotations: [],
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(calls.length > 0 && {
        tool_calls: calls.map((call) => {
          const isText = isFreeform(call.name)
          return toToolCall(
            { id: getVendorCallId(call), name: call.name },
            isText ? getFreeformText(call) : call.raw,
            isText,
          )
        }),
      }),
    }
    return {
      ...createHeadFields(head, 'chat.completion'),
      choices: [{ index: 0, message, logprobs: null, finish_reason: toVendorFinishReason(finish) }],
      usage: toUsageBody(usage),
      service_tier: 'default',
    }
  },
  writeError: createOpenaiErrorBody,
  writeErrorFrame: (error) => ({ data: createOpenaiErrorBody(error) }),
}

function createHeadFields({ id, model, created }: ResponseMetadata, object: string): JsonObject {
  return { id: addIdPrefix('chatcmpl-', id), object, created, model, system_fingerprint: 'fp_dragoman' }
}

function joinTexts(parts: readonly AssistantPart[], kind: 'text' | 'reasoning'): string {
  return parts.flatMap((part) => (part.kind === kind ? [part.text] : [])).join('')
}

function toToolCall(
  { id, name }: { readonly id: string; readonly name: string },
  args: Json,
  isFreeform: boolean,
): JsonObject {
  const callId = addIdPrefix('call_', id)
  return isFreeform
    ? { id: callId, type: 'custom', custom: { name, input: args } }
    : { id: callId, type: 'function', function: { name, arguments: args } }
}

/** Did the client declare this tool as one that takes free text? */
function createFreeformTest({ tools }: JsonObject): (name: string) => boolean {
  const names = new Set(
    filterObjects(tools).flatMap(({ type, custom }) => (type === 'custom' ? [objectOrEmpty(custom)['name']] : [])),
  )
  return (name) => names.has(name)
}

const toVendorFinishReason = createFinishLabeler({
  stop: 'stop',
  calls: 'tool_calls',
  length: 'length',
  filter: 'content_filter',
  'malformed-call': 'tool_calls',
  aborted: 'length',
  fault: 'length',
})

function toUsageBody(usage: Usage): JsonObject {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  const completion = usage.output + usage.reasoning
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(usage.cacheWrite > 0 && { cache_write_tokens: usage.cacheWrite }),
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}
