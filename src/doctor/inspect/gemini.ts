import { isObject, stringOrEmpty } from '../../model/json.ts'
import { toArray, toObject } from './json-values.ts'
import type { InspectionBuilder } from './inspect-frames.ts'

/** A chunk of Gemini's API, with or without Code Assist's envelope. */
export function inspectGeminiChunk(inspection: InspectionBuilder, envelope: Record<string, unknown>): void {
  const value = isObject(envelope['response']) ? envelope['response'] : envelope
  if (value['error'] !== undefined && value['error'] !== null) inspection.hasError = true
  if (isObject(value['usageMetadata'])) inspection.usages.push(value['usageMetadata'])
  for (const candidate of toArray(value['candidates']).filter(isObject)) {
    if (typeof candidate['finishReason'] === 'string') inspection.finishReasons.push(candidate['finishReason'])
    for (const part of toArray(toObject(candidate['content'])['parts']).filter(isObject)) {
      if (part['thought'] !== true) inspection.text += stringOrEmpty(part['text'])
      const call = part['functionCall']
      if (!isObject(call)) continue
      // As text, so that arguments that came as a string are double-encoded, as on the other wires.
      const args = call['args'] === undefined ? undefined : JSON.stringify(call['args'])
      inspection.fragments.push({
        index: undefined,
        id: call['id'],
        name: call['name'],
        arguments: args,
        startsCall: true,
      })
    }
  }
}
