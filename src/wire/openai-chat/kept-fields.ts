import { defined } from '../../model/defined.ts'
import { type JsonObject, objectOrEmpty } from '../../model/json.ts'
import type { PendingCall } from '../calls/call-assembler.ts'
import {
  createFieldFilter,
  createNestedFilter,
  type FieldFilter,
  hasFields,
  mergeChunkFields,
} from '../other-fields.ts'

/** The signature of a call is sent back (T119); what else it has is only kept. */
export function keepCallFields(pendingCall: PendingCall, call: Readonly<Record<string, unknown>>): void {
  const fields = pickCallFields(call)
  if (!fields) return
  const { extra_content, ...others } = fields
  const data = structuredClone(objectOrEmpty(pendingCall.nativeData)) as JsonObject
  mergeChunkFields(data, defined({ extra_content, response: hasFields(others) ? others : undefined }), 'append')
  pendingCall.nativeData = data
}

// What the objects of a response have besides what is read of them, or says nothing.

const pickUsageFields = createNestedFilter(
  'prompt_tokens completion_tokens total_tokens cached_tokens reasoning_tokens prompt_cache_hit_tokens prompt_cache_miss_tokens',
  {
    prompt_tokens_details: createCountFilter('cached_tokens cache_write_tokens'),
    completion_tokens_details: createCountFilter('reasoning_tokens'),
  },
)

/** The counts that are not read; most servers send all of them, and most are zero. */
function createCountFilter(known: string): FieldFilter {
  const pick = createFieldFilter(known)
  return (fields) => {
    const others = pick(fields)
    const filled = others && Object.fromEntries(Object.entries(others).filter(([, count]) => count !== 0))
    return filled && hasFields(filled) ? filled : undefined
  }
}

export const pickChunkFields = createNestedFilter(
  'id object created model choices error system_fingerprint service_tier obfuscation',
  { usage: pickUsageFields, x_groq: createNestedFilter('id', { usage: pickUsageFields }) },
)

export const pickEnvelopeFields = createFieldFilter('data choices')

export const pickChoiceFields = createNestedFilter('index delta message finish_reason error', {
  usage: pickUsageFields,
})

export const pickMessageFields = createFieldFilter(
  'role content content_list refusal reasoning_content reasoning reasoning_text reasoning_details images tool_calls function_call',
)

export const pickFunctionFields = createFieldFilter('name arguments args input')

export const pickCallFields = createNestedFilter('id index type name arguments args input', {
  function: pickFunctionFields,
  custom: pickFunctionFields,
})

export const pickTextFields = createFieldFilter('type text')

export const pickThinkingFields = createFieldFilter('type thinking')

export const pickImageFields = createNestedFilter('type index', { image_url: createFieldFilter('url') })
