import { isObject, type JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import { isCallIdWithReasoning, isValidSignature } from '../response/signatures.ts'
import { type UnknownFields, findFirstError, toObjectList } from './read-fields.ts'

/** The error of a vendor that requires its native data back with its calls (T74, T80, T84, T117). */
export function findSignatureError(wire: WireId, body: JsonObject): string | undefined {
  if (wire === 'openai-chat') return findFirstError(toObjectList(body['messages']) ?? [], checkChatMessage)
  if (wire === 'anthropic') return findFirstError(toObjectList(body['messages']) ?? [], checkAnthropicMessage)
  if (wire === 'openai-responses') {
    const items = toObjectList(body['input']) ?? []
    return findFirstError(items, (item, at) => checkResponsesItem(item, items.slice(0, at)))
  }
  if (wire === 'interactions') {
    const steps = toObjectList(body['input']) ?? []
    return findFirstError(steps, (step, at) => checkInteractionsStep(step, steps.slice(0, at)))
  }
  const inner = wire === 'code-assist' && isObject(body['request']) ? body['request'] : body
  return findFirstError(toObjectList(inner['contents']) ?? [], checkGeminiContent)
}

function checkChatMessage(message: UnknownFields): string | undefined {
  const calls = toObjectList(message['tool_calls']) ?? []
  const needsReasoning = calls.some(({ id }) => isCallIdWithReasoning(String(id)))
  const reasoningContent = message['reasoning_content']
  if (!needsReasoning || (typeof reasoningContent === 'string' && reasoningContent !== '')) return undefined
  return 'The `reasoning_content` in the thinking mode must be passed back to the API.'
}

function checkAnthropicMessage(message: UnknownFields, at: number): string | undefined {
  const blocks = toObjectList(message['content']) ?? []
  const invalidIndex = blocks.findIndex(
    (block) => block['type'] === 'thinking' && !isValidSignature(block['signature'], block['thinking']),
  )
  if (invalidIndex >= 0) return `messages.${at}.content.${invalidIndex}: Invalid \`signature\` in \`thinking\` block`
  const needsReasoning = blocks.some(
    (block) => block['type'] === 'tool_use' && isCallIdWithReasoning(String(block['id'])),
  )
  if (!needsReasoning || blocks[0]?.['type'] === 'thinking') return undefined
  return `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(blocks[0]?.['type'])}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`
}

function checkResponsesItem(item: UnknownFields, before: readonly UnknownFields[]): string | undefined {
  if (item['type'] === 'reasoning') {
    const [summary] = toObjectList(item['summary']) ?? []
    return isValidSignature(item['encrypted_content'], summary?.['text'])
      ? undefined
      : `The encrypted content for item ${String(item['id'])} could not be verified.`
  }
  if (item['type'] !== 'function_call' || !isCallIdWithReasoning(String(item['call_id']))) return undefined
  const itemsSinceOutput = before.slice(before.findLastIndex((one) => String(one['type']).endsWith('_output')) + 1)
  return itemsSinceOutput.some((one) => one['type'] === 'reasoning')
    ? undefined
    : `Item '${String(item['call_id'])}' of type 'function_call' was provided without its required 'reasoning' item.`
}

/** The first call of a response is signed; a call of another model may have the documented placeholder. */
function checkGeminiContent(content: UnknownFields, at: number): string | undefined {
  const part = (toObjectList(content['parts']) ?? []).find((one) => isObject(one['functionCall']))
  const call = part?.['functionCall']
  if (!part || !isObject(call)) return undefined
  const signature = part['thoughtSignature']
  if (signature === undefined)
    return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${String(call['name'])}\`, position ${at + 1}.`
  if (signature === 'skip_thought_signature_validator') return undefined
  return isValidSignature(signature, [call['name'], call['args']]) ? undefined : 'Thought signature is not valid.'
}

/** A thought is signed; so a call that had one needs a thought before it, which may have the documented placeholder. */
function checkInteractionsStep(step: UnknownFields, before: readonly UnknownFields[]): string | undefined {
  if (step['type'] === 'thought') {
    const [summary] = toObjectList(step['summary']) ?? []
    const { signature } = step
    if (signature === 'skip_thought_signature_validator') return undefined
    return isValidSignature(signature, summary?.['text'] ?? '') ? undefined : 'Corrupted thought signature.'
  }
  if (step['type'] !== 'function_call' || !isCallIdWithReasoning(String(step['id']))) return undefined
  const since = before.findLastIndex(({ type }) => type === 'user_input' || type === 'function_result')
  return before.slice(since + 1).some(({ type }) => type === 'thought')
    ? undefined
    : 'Request contains an invalid argument.'
}
