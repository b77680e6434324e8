import { isObject, type JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import { hadThought, isSigned } from '../marks.ts'
import { type Fields, firstOf, objects } from './fields.ts'

/** What a vendor would refuse that wants its own data back with the calls it made (T74, T80, T84, T117). */
export function unsigned(wire: WireId, body: JsonObject): string | undefined {
  if (wire === 'openai-chat') return firstOf(objects(body['messages']) ?? [], chat)
  if (wire === 'anthropic') return firstOf(objects(body['messages']) ?? [], anthropic)
  if (wire === 'openai-responses') {
    const items = objects(body['input']) ?? []
    return firstOf(items, (item, at) => responses(item, items.slice(0, at)))
  }
  const inner = wire === 'code-assist' && isObject(body['request']) ? body['request'] : body
  return firstOf(objects(inner['contents']) ?? [], gemini)
}

function chat(message: Fields): string | undefined {
  const calls = objects(message['tool_calls']) ?? []
  const due = calls.some(({ id }) => hadThought(String(id)))
  const given = message['reasoning_content']
  if (!due || (typeof given === 'string' && given !== '')) return undefined
  return 'The `reasoning_content` in the thinking mode must be passed back to the API.'
}

function anthropic(message: Fields, at: number): string | undefined {
  const blocks = objects(message['content']) ?? []
  const forged = blocks.findIndex(
    (block) => block['type'] === 'thinking' && !isSigned(block['signature'], block['thinking']),
  )
  if (forged >= 0) return `messages.${at}.content.${forged}: Invalid \`signature\` in \`thinking\` block`
  const due = blocks.some((block) => block['type'] === 'tool_use' && hadThought(String(block['id'])))
  if (!due || blocks[0]?.['type'] === 'thinking') return undefined
  return `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(blocks[0]?.['type'])}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`
}

function responses(item: Fields, before: readonly Fields[]): string | undefined {
  if (item['type'] === 'reasoning') {
    const [summary] = objects(item['summary']) ?? []
    return isSigned(item['encrypted_content'], summary?.['text'])
      ? undefined
      : `The encrypted content for item ${String(item['id'])} could not be verified.`
  }
  if (item['type'] !== 'function_call' || !hadThought(String(item['call_id']))) return undefined
  const since = before.slice(before.findLastIndex((one) => String(one['type']).endsWith('_output')) + 1)
  return since.some((one) => one['type'] === 'reasoning')
    ? undefined
    : `Item '${String(item['call_id'])}' of type 'function_call' was provided without its required 'reasoning' item.`
}

/** The first call of each answer is signed; those that another model made may carry the documented placeholder. */
function gemini(content: Fields, at: number): string | undefined {
  const part = (objects(content['parts']) ?? []).find((one) => isObject(one['functionCall']))
  const call = part?.['functionCall']
  if (!part || !isObject(call)) return undefined
  const signature = part['thoughtSignature']
  if (signature === undefined)
    return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${String(call['name'])}\`, position ${at + 1}.`
  if (signature === 'skip_thought_signature_validator') return undefined
  return isSigned(signature, [call['name'], call['args']]) ? undefined : 'Thought signature is not valid.'
}
