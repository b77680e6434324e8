import { isObject, stringOf } from '../../model/json.ts'
import { list, numberOf, objectOf } from './values.ts'
import type { Sight } from './look.ts'

/** Looks at an event of Responses, or at a whole response. */
export function lookResponses(sight: Sight, value: Record<string, unknown>): void {
  const type = stringOf(value['type'])
  if (value['object'] === 'response') return lookWhole(sight, value)
  if (type === 'error' || type === 'response.failed') sight.error = true
  const response = objectOf(value['response'])
  if (isObject(response['usage'])) sight.usages.push(response['usage'])
  if (/^response\.(?:completed|incomplete|failed)$/.test(type)) sight.finishes.push(stringOf(response['status']))
  if (type === 'response.output_text.delta') sight.text += stringOf(value['delta'])
  if (!NUMBERED.test(type)) return
  const index = numberOf(value['output_index'])
  const item = objectOf(value['item'])
  if (type === 'response.output_item.added') {
    sight.numbers.push(index)
    sight.open = true
    if (item['type'] === 'function_call') sight.pieces.push({ ...pieceOf(item, index), opens: true })
  } else if (type === 'response.output_item.done') {
    sight.open = false
    if (item['type'] === 'function_call') sight.pieces.push({ ...pieceOf(item, index), opens: false, closing: true })
  } else if (type === 'response.function_call_arguments.delta') {
    const args = value['delta']
    sight.pieces.push({ index, id: undefined, item: value['item_id'], name: undefined, arguments: args, opens: false })
  } else if (index === null) sight.numbers.push(null)
}

/** The events that say which item they are about. */
const NUMBERED = /^response\.(?:output_item|function_call_arguments|output_text|content_part|reasoning)/

function lookWhole(sight: Sight, response: Record<string, unknown>): void {
  if (isObject(response['usage'])) sight.usages.push(response['usage'])
  if (isObject(response['error'])) sight.error = true
  if (typeof response['status'] === 'string') sight.finishes.push(response['status'])
  for (const item of list(response['output']).filter(isObject)) {
    if (item['type'] === 'function_call') sight.pieces.push({ ...pieceOf(item, undefined), opens: true })
    for (const part of list(item['content'])) sight.text += stringOf(objectOf(part)['text'])
  }
}

function pieceOf(item: Record<string, unknown>, index: number | null | undefined) {
  return { index, id: item['call_id'], item: item['id'], name: item['name'], arguments: item['arguments'] }
}
