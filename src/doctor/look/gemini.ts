import { isObject, stringOf } from '../../model/json.ts'
import { list, objectOf } from './values.ts'
import type { Sight } from './look.ts'

/** Looks at a chunk of Gemini's, in Code Assist's envelope or without. */
export function lookGemini(sight: Sight, given: Record<string, unknown>): void {
  const value = isObject(given['response']) ? given['response'] : given
  if (value['error'] !== undefined && value['error'] !== null) sight.error = true
  if (isObject(value['usageMetadata'])) sight.usages.push(value['usageMetadata'])
  for (const candidate of list(value['candidates']).filter(isObject)) {
    if (typeof candidate['finishReason'] === 'string') sight.finishes.push(candidate['finishReason'])
    for (const part of list(objectOf(candidate['content'])['parts']).filter(isObject)) {
      if (part['thought'] !== true) sight.text += stringOf(part['text'])
      const call = part['functionCall']
      if (!isObject(call)) continue
      // As text, so that arguments that came as text are text inside text, as on the other wires.
      const args = call['args'] === undefined ? undefined : JSON.stringify(call['args'])
      sight.pieces.push({ index: undefined, id: call['id'], name: call['name'], arguments: args, opens: true })
    }
  }
}
