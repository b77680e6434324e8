import { isObject, stringOf } from '../../model/json.ts'
import { list, numberOf, objectOf } from './values.ts'
import type { Sight } from './look.ts'

/** Looks at an event of Anthropic's messages, or at a whole message. */
export function lookAnthropic(sight: Sight, value: Record<string, unknown>): void {
  const message = objectOf(value['message'])
  const usage = value['usage'] ?? message['usage']
  if (isObject(usage)) sight.usages.push(usage)
  const index = numberOf(value['index'])
  const delta = objectOf(value['delta'])
  switch (value['type']) {
    case 'message':
      return lookWhole(sight, value)
    case 'message_start':
      sight.begins++
      return
    case 'error':
      sight.error = true
      return
    case 'content_block_start': {
      const block = objectOf(value['content_block'])
      sight.numbers.push(index)
      sight.open = true
      sight.text += stringOf(block['text'])
      if (block['type'] === 'tool_use') sight.pieces.push(pieceOf(block, index))
      return
    }
    case 'content_block_delta':
      if (index === null) sight.numbers.push(null)
      sight.text += stringOf(delta['text'])
      if (delta['type'] === 'input_json_delta')
        sight.pieces.push({ index, id: undefined, name: undefined, arguments: delta['partial_json'], opens: false })
      return
    case 'content_block_stop':
      sight.open = false
      return
    case 'message_delta':
      if (typeof delta['stop_reason'] === 'string') sight.finishes.push(delta['stop_reason'])
  }
}

function lookWhole(sight: Sight, message: Record<string, unknown>): void {
  sight.begins++
  if (typeof message['stop_reason'] === 'string') sight.finishes.push(message['stop_reason'])
  for (const block of list(message['content']).filter(isObject)) {
    sight.text += stringOf(block['text'])
    // Whole, the arguments are an object by right.
    if (block['type'] === 'tool_use')
      sight.pieces.push({ ...pieceOf(block, undefined), arguments: JSON.stringify(block['input'] ?? {}) })
  }
}

/** The arguments of a call that begins are an empty object, to be filled. */
function pieceOf(block: Record<string, unknown>, index: number | null | undefined) {
  const input = block['input']
  const args = isObject(input) && Object.keys(input).length === 0 ? undefined : input
  return { index, id: block['id'], name: block['name'], arguments: args, opens: true }
}
