import type { Warning } from '../../model/event.ts'
import { type JsonObject, filterObjects, isObject, nonBlankString, stringOrEmpty } from '../../model/json.ts'
import type { AssistantPart, CallPart, MediaPart, ResultPart, TextPart, Turn } from '../../model/turn.ts'
import { addParts, appendResults, createNativeDataFromRequest, pickOtherFields } from '../read-parts.ts'
import { warnNotKept } from '../unread-fields.ts'
import type { JsonFields } from './content.ts'
import { CALL_FIELDS, MEDIA_FIELDS, TEXT_FIELDS, toMediaPart, toNativeStep } from './content.ts'

const READ_ORIGIN = { provider: 'interactions', wire: 'interactions', model: '' } as const

/** The turns that a list of steps means. Steps of the model that follow each other are one turn. */
export function readSteps(steps: readonly JsonFields[]): { turns: Turn[]; warnings: Warning[] } {
  const turns: Turn[] = []
  const warnings: Warning[] = []
  const names = new Map<string, string>()
  for (const step of steps) {
    const type = stringOrEmpty(step['type'])
    warnings.push(...listDroppedFields(step, type))
    if (type === 'user_input') {
      turns.push({ role: 'user', parts: readContent(step['content'], warnings) })
      continue
    }
    if (type === 'function_result') {
      appendResults(turns, readResult(step, names, warnings))
      continue
    }
    const parts = readModelStep(step, type, warnings)
    for (const part of parts) if (part.kind === 'call') names.set(part.id, part.name)
    const last = turns.at(-1)
    if (last?.role === 'assistant') addParts(last, parts)
    else turns.push({ role: 'assistant', origin: READ_ORIGIN, parts: [...parts], finish: { reason: 'stop' } })
  }
  return { turns, warnings }
}

/** The fields of these steps are read one by one; of all others, everything is kept. */
const STEP_FIELDS: ReadonlyMap<string, string> = new Map([
  ['user_input', 'type content'],
  ['model_output', 'type content'],
  ['function_result', 'type call_id name result is_error'],
])

function listDroppedFields(step: JsonFields, type: string): Warning[] {
  const known = STEP_FIELDS.get(type)
  const dropped = known && pickOtherFields(step, known)
  if (!dropped) return []
  return [{ code: 'unread-field', message: `${type}: ${Object.keys(dropped).join(', ')} was dropped.` }]
}

function readModelStep(step: JsonFields, type: string, warnings: Warning[]): AssistantPart[] {
  if (type === 'model_output') return readContent(step['content'], warnings)
  if (type === 'function_call') return [readCall(step)]
  if (type === 'thought') {
    const text = filterObjects(step['summary']).map((content) => stringOrEmpty(content['text']))
    const isSigned = nonBlankString(step['signature']) !== undefined
    if (!isSigned) warnAboutUnsignedThought(step, warnings)
    const native = isSigned
      ? { native: createNativeDataFromRequest('interactions', undefined, toNativeStep(step)) }
      : {}
    return [{ kind: 'reasoning', text: text.join(''), ...native }]
  }
  return [
    { kind: 'text', text: '', native: createNativeDataFromRequest('interactions', undefined, toNativeStep(step)) },
  ]
}

/** A thought without a signature is not sent back (T189). */
function warnAboutUnsignedThought(step: JsonFields, warnings: Warning[]): void {
  warnNotKept(warnings, 'A field of an unsigned thought', pickOtherFields(step, THOUGHT_FIELDS))
  for (const content of filterObjects(step['summary']))
    warnNotKept(warnings, 'A field of an unsigned thought', pickOtherFields(content, TEXT_FIELDS))
}

const THOUGHT_FIELDS = 'type summary signature'

function readCall(step: JsonFields): CallPart {
  const args = step['arguments'] ?? {}
  const id = nonBlankString(step['id']) ?? ''
  const fields = pickOtherFields(step, CALL_FIELDS)
  return {
    kind: 'call',
    id,
    name: stringOrEmpty(step['name']),
    raw: typeof args === 'string' ? args : JSON.stringify(args),
    ...(isObject(args) && { input: args as JsonObject }),
    native: createNativeDataFromRequest('interactions', id, fields && { fields }),
  }
}

/** A result is a text, a list of contents, or any other object. */
function readResult(step: JsonFields, names: ReadonlyMap<string, string>, warnings: Warning[]): ResultPart {
  const { result } = step
  const id = nonBlankString(step['call_id']) ?? ''
  const isText = typeof result === 'string'
  return {
    kind: 'result',
    id,
    name: nonBlankString(step['name']) ?? names.get(id) ?? '',
    status: step['is_error'] === true ? 'error' : 'ok',
    content: isText ? [{ kind: 'text', text: result }] : Array.isArray(result) ? readContent(result, warnings) : [],
    ...(isObject(result) && { data: result as JsonObject }),
  }
}

function readContent(content: unknown, warnings: Warning[]): (TextPart | MediaPart)[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  const list: readonly unknown[] = Array.isArray(content) ? content : [content]
  return list.flatMap((one): (TextPart | MediaPart)[] => {
    const fields = isObject(one) ? one : {}
    if (fields['type'] === 'text' && typeof fields['text'] === 'string')
      return [{ kind: 'text', text: fields['text'], ...keepFields(fields, TEXT_FIELDS) }]
    const media = toMediaPart(fields)
    if (media) return [{ ...media, ...keepFields(fields, MEDIA_FIELDS) }]
    if (one !== undefined && one !== null)
      warnings.push({ code: 'unread-content', message: `${JSON.stringify(one).slice(0, 200)} was dropped.` })
    return []
  })
}

function keepFields(content: JsonFields, known: string): Pick<TextPart, 'native'> {
  const fields = pickOtherFields(content, known)
  return fields ? { native: createNativeDataFromRequest('interactions', undefined, { fields }) } : {}
}
