import { filterObjects, isObject, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import { type FrameInspection, toNumberOrNull } from './frame-inspection.ts'

export function inspectAnthropicEvent(inspection: FrameInspection, value: Record<string, unknown>): void {
  const message = objectOrEmpty(value['message'])
  const usage = value['usage'] ?? message['usage']
  if (isObject(usage)) inspection.usages.push(usage)
  const index = toNumberOrNull(value['index'])
  const delta = objectOrEmpty(value['delta'])
  switch (value['type']) {
    case 'message':
      return inspectWholeMessage(inspection, value)
    case 'message_start':
      inspection.startCount++
      return
    case 'error':
      inspection.hasError = true
      return
    case 'content_block_start': {
      const block = objectOrEmpty(value['content_block'])
      inspection.blockIndexes.push(index)
      inspection.hasOpenBlock = true
      inspection.text += stringOrEmpty(block['text'])
      if (block['type'] === 'tool_use') inspection.fragments.push(toCallFragment(block, index))
      return
    }
    case 'content_block_delta':
      if (index === null) inspection.blockIndexes.push(null)
      inspection.text += stringOrEmpty(delta['text'])
      if (delta['type'] === 'input_json_delta')
        inspection.fragments.push({ index, arguments: delta['partial_json'], startsCall: false })
      return
    case 'content_block_stop':
      inspection.hasOpenBlock = false
      return
    case 'message_delta':
      if (typeof delta['stop_reason'] === 'string') inspection.finishReasons.push(delta['stop_reason'])
  }
}

function inspectWholeMessage(inspection: FrameInspection, message: Record<string, unknown>): void {
  inspection.startCount++
  if (typeof message['stop_reason'] === 'string') inspection.finishReasons.push(message['stop_reason'])
  for (const block of filterObjects(message['content'])) {
    inspection.text += stringOrEmpty(block['text'])
    // In a whole message, the arguments are an object.
    if (block['type'] === 'tool_use')
      inspection.fragments.push({
        ...toCallFragment(block, undefined),
        arguments: JSON.stringify(block['input'] ?? {}),
      })
  }
}

/** A call starts with an empty object as its arguments. */
function toCallFragment(block: Record<string, unknown>, index: number | null | undefined) {
  const input = block['input']
  const args = isObject(input) && Object.keys(input).length === 0 ? undefined : input
  return { index, id: block['id'], name: block['name'], arguments: args, startsCall: true }
}
