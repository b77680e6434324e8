import { filterObjects, isObject, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import { type FrameInspection, toNumberOrNull } from './frame-inspection.ts'

export function inspectResponsesEvent(inspection: FrameInspection, value: Record<string, unknown>): void {
  const type = stringOrEmpty(value['type'])
  if (value['object'] === 'response') return inspectWholeResponse(inspection, value)
  if (type === 'error' || type === 'response.failed') inspection.hasError = true
  const response = objectOrEmpty(value['response'])
  if (isObject(response['usage'])) inspection.usages.push(response['usage'])
  if (/^response\.(?:completed|incomplete|failed)$/.test(type))
    inspection.finishReasons.push(stringOrEmpty(response['status']))
  if (type === 'response.output_text.delta') inspection.text += stringOrEmpty(value['delta'])
  if (!INDEXED_EVENT_TYPES.test(type)) return
  const index = toNumberOrNull(value['output_index'])
  const item = objectOrEmpty(value['item'])
  if (type === 'response.output_item.added') {
    inspection.blockIndexes.push(index)
    inspection.hasOpenBlock = true
    if (item['type'] === 'function_call')
      inspection.fragments.push({ ...toCallFragment(item, index), startsCall: true })
  } else if (type === 'response.output_item.done') {
    inspection.hasOpenBlock = false
    if (item['type'] === 'function_call')
      inspection.fragments.push({ ...toCallFragment(item, index), startsCall: false, isFinalCopy: true })
  } else if (type === 'response.function_call_arguments.delta') {
    const args = value['delta']
    inspection.fragments.push({ index, itemId: value['item_id'], arguments: args, startsCall: false })
  } else if (index === null) inspection.blockIndexes.push(null)
}

/** The events that name the item they belong to. */
const INDEXED_EVENT_TYPES = /^response\.(?:output_item|function_call_arguments|output_text|content_part|reasoning)/

function inspectWholeResponse(inspection: FrameInspection, response: Record<string, unknown>): void {
  if (isObject(response['usage'])) inspection.usages.push(response['usage'])
  if (isObject(response['error'])) inspection.hasError = true
  if (typeof response['status'] === 'string') inspection.finishReasons.push(response['status'])
  for (const item of filterObjects(response['output'])) {
    if (item['type'] === 'function_call')
      inspection.fragments.push({ ...toCallFragment(item, undefined), startsCall: true })
    for (const part of filterObjects(item['content'])) inspection.text += stringOrEmpty(part['text'])
  }
}

function toCallFragment(item: Record<string, unknown>, index: number | null | undefined) {
  return { index, id: item['call_id'], itemId: item['id'], name: item['name'], arguments: item['arguments'] }
}
