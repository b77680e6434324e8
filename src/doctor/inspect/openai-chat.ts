import { filterObjects, isObject, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import { type FrameInspection, toNumberOrNull } from './frame-inspection.ts'

export function inspectChatChunk(inspection: FrameInspection, value: Record<string, unknown>): void {
  if (isObject(value['usage'])) inspection.usages.push(value['usage'])
  if (value['error'] !== undefined && value['error'] !== null) inspection.hasError = true
  for (const choice of filterObjects(value['choices'])) {
    if (choice['finish_reason'] === 'error') inspection.hasError = true
    else if (typeof choice['finish_reason'] === 'string') inspection.finishReasons.push(choice['finish_reason'])
    const streamed = isObject(choice['delta'])
    const message = objectOrEmpty(streamed ? choice['delta'] : choice['message'])
    inspection.text += stringOrEmpty(message['content'])
    for (const call of filterObjects(message['tool_calls'])) {
      const inner = objectOrEmpty(call['function'])
      const index = streamed ? toNumberOrNull(call['index']) : undefined
      if (index !== undefined && !inspection.blockIndexes.includes(index)) inspection.blockIndexes.push(index)
      const opens = typeof inner['name'] === 'string' && inner['name'] !== ''
      inspection.fragments.push({
        index,
        id: call['id'],
        name: inner['name'],
        arguments: inner['arguments'],
        startsCall: opens,
      })
    }
  }
}
