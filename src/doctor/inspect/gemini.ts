import { filterObjects, isObject, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { FrameInspection } from './frame-inspection.ts'

/** A chunk of Gemini's API, with or without Code Assist's envelope. */
export function inspectGeminiChunk(inspection: FrameInspection, envelope: Record<string, unknown>): void {
  const value = isObject(envelope['response']) ? envelope['response'] : envelope
  if (value['error'] !== undefined && value['error'] !== null) inspection.hasError = true
  if (isObject(value['usageMetadata'])) inspection.usages.push(value['usageMetadata'])
  for (const candidate of filterObjects(value['candidates'])) {
    if (typeof candidate['finishReason'] === 'string') inspection.finishReasons.push(candidate['finishReason'])
    for (const part of filterObjects(objectOrEmpty(candidate['content'])['parts'])) {
      if (part['thought'] !== true) inspection.text += stringOrEmpty(part['text'])
      const call = part['functionCall']
      if (!isObject(call)) continue
      // As text, so that arguments that came as a string are double-encoded, as on the other wires.
      const args = call['args'] === undefined ? undefined : JSON.stringify(call['args'])
      inspection.fragments.push({ id: call['id'], name: call['name'], arguments: args, startsCall: true })
    }
  }
}
