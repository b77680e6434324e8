import { filterObjects, isObject, type Json, type JsonObject, objectOrEmpty } from '../../model/json.ts'
import { joinTextParts, toMediaUrl } from '../../model/text.ts'
import type { AssistantPart, MediaPart, NativeData } from '../../model/turn.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'
import { createOpenaiErrorBody } from '../errors/openai-error-body.ts'
import { hasFields } from '../other-fields.ts'
import { mergeObjects } from '../provider-options.ts'
import type { ResponseMetadata, ResponseWriter, WrittenResponseFrame } from '../response-writer.ts'
import {
  addIdPrefix,
  createFinishLabeler,
  createResponseStream,
  getFreeformText,
  getNativeData,
  getResponseFields,
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
    /** What the call had from the start besides its name: clients look for its signature there. */
    let opening: JsonObject = {}
    const frame = (delta: JsonObject, finish: string | null = null): WrittenResponseFrame => ({
      data: { ...fields, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...usageField },
    })
    const callFrame = (index: number, call: JsonObject): WrittenResponseFrame =>
      frame({ tool_calls: [{ index, ...call }] })
    return createResponseStream({
      begin: () => [frame({ role: 'assistant', content: '', refusal: null })],
      openPart(_at, part) {
        if (part.kind !== 'call') return []
        opening = getCallFields(part)
        return [callFrame(calls++, mergeObjects(toToolCall(part, '', isFreeform(part.name)), opening))]
      },
      addDelta(_at, part, text) {
        const { kind } = part
        // Free text is an argument on other wires, so it is sent once it is complete.
        if (kind === 'call')
          return isFreeform(part.name) ? [] : [callFrame(calls - 1, { function: { arguments: text } })]
        if (kind === 'media') return []
        const field = kind === 'reasoning' ? 'reasoning_content' : part.refusal ? 'refusal' : 'content'
        return [frame({ [field]: text })]
      },
      closePart(_at, part) {
        const data = getNativeData(part, 'openai-chat')
        if (part.kind === 'media') return [frame({ images: [toImage(part)] })]
        if (part.kind !== 'call') return data['details'] ? [frame({ reasoning_details: data['details'] })] : []
        const known = getCallFields(part)
        const late = JSON.stringify(known) === JSON.stringify(opening) ? {} : known
        if (isFreeform(part.name))
          return [callFrame(calls - 1, mergeObjects({ custom: { input: getFreeformText(part) } }, late))]
        // Some clients reject a piece of a call without a function.
        return hasFields(late) ? [callFrame(calls - 1, mergeObjects({ function: { arguments: '' } }, late))] : []
      },
      end({ finish, usage }) {
        const { response = {}, choice, message = {} } = getResponseFields(finish, 'openai-chat')
        const { usage: counts, ...others } = response
        const last = {
          index: 0,
          delta: message,
          logprobs: null,
          ...choice,
          finish_reason: toVendorFinishReason(finish),
        }
        const wholeUsage = mergeObjects(toUsageBody(usage), objectOrEmpty(counts) as JsonObject)
        return [
          { data: { ...fields, choices: [last], ...usageField, ...others } },
          ...(wantsUsage ? [{ data: { ...fields, choices: [], usage: wholeUsage }, isTrailer: true as const }] : []),
          { data: null, raw: '[DONE]', isTrailer: true },
        ]
      },
    })
  },
  writeWhole({ parts, finish, usage = NO_USAGE }, head) {
    const calls = parts.filter((part) => part.kind === 'call')
    const isFreeform = createFreeformTest(head.request)
    const refusal = joinTextParts(parts.filter(isRefusal))
    const text = joinTextParts(parts.filter((part) => !isRefusal(part)))
    const reasoning = parts.flatMap((part) => (part.kind === 'reasoning' ? [part.text] : [])).join('')
    const images = parts.flatMap((part) => (part.kind === 'media' ? [toImage(part)] : []))
    const details = parts.flatMap((part) => getNativeData(part, 'openai-chat')['details'] ?? [])
    const { response = {}, choice, message: messageFields } = getResponseFields(finish, 'openai-chat')
    const message = {
      role: 'assistant',
      content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
      refusal: refusal === '' ? null : refusal,
      annotations: [],
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(details.length > 0 && { reasoning_details: details }),
      ...(images.length > 0 && { images }),
      ...(calls.length > 0 && {
        tool_calls: calls.map((call) => {
          const isText = isFreeform(call.name)
          const made = toToolCall(
            { id: getVendorCallId(call), name: call.name },
            isText ? getFreeformText(call) : call.raw,
            isText,
          )
          return mergeObjects(made, getCallFields(call))
        }),
      }),
      ...messageFields,
    }
    const body = {
      ...createHeadFields(head, 'chat.completion'),
      choices: [{ index: 0, message, logprobs: null, ...choice, finish_reason: toVendorFinishReason(finish) }],
      usage: toUsageBody(usage),
      service_tier: 'default',
    }
    return mergeObjects(body, response)
  },
  writeError: createOpenaiErrorBody,
  writeErrorFrame: (error) => ({ data: createOpenaiErrorBody(error) }),
}

function createHeadFields({ id, model, created }: ResponseMetadata, object: string): JsonObject {
  return { id: addIdPrefix('chatcmpl-', id), object, created, model, system_fingerprint: 'fp_dragoman' }
}

/** What a call of this wire had besides its name and arguments. */
function getCallFields(part: { readonly native?: NativeData }): JsonObject {
  const { response, ...sent } = getNativeData(part, 'openai-chat')
  return { ...sent, ...(isObject(response) && response) }
}

function toImage(part: MediaPart): JsonObject {
  const image = { type: 'image_url', image_url: { url: toMediaUrl(part) ?? '' } }
  const { response } = getNativeData(part, 'openai-chat')
  return isObject(response) ? mergeObjects(image, response) : image
}

function isRefusal(part: AssistantPart): boolean {
  return part.kind === 'text' && part.refusal === true
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
