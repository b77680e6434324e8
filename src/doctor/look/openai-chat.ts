import { isObject, stringOf } from '../../model/json.ts'
import { list, numberOf, objectOf } from './values.ts'
import type { Sight } from './look.ts'

/** Looks at a chunk of chat completions, or at a whole one. */
export function lookChat(sight: Sight, value: Record<string, unknown>): void {
  if (isObject(value['usage'])) sight.usages.push(value['usage'])
  if (value['error'] !== undefined && value['error'] !== null) sight.error = true
  for (const choice of list(value['choices']).filter(isObject)) {
    if (choice['finish_reason'] === 'error') sight.error = true
    else if (typeof choice['finish_reason'] === 'string') sight.finishes.push(choice['finish_reason'])
    const streamed = isObject(choice['delta'])
    const said = objectOf(streamed ? choice['delta'] : choice['message'])
    sight.text += stringOf(said['content'])
    for (const call of list(said['tool_calls']).filter(isObject)) {
      const inner = objectOf(call['function'])
      const index = streamed ? numberOf(call['index']) : undefined
      if (index !== undefined && !sight.numbers.includes(index)) sight.numbers.push(index)
      const opens = typeof inner['name'] === 'string' && inner['name'] !== ''
      sight.pieces.push({ index, id: call['id'], name: inner['name'], arguments: inner['arguments'], opens })
    }
  }
}
