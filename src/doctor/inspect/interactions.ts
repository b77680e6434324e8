import { filterObjects, isObject, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import { getReasonOfErrorCode } from '../../wire/interactions/decode-response.ts'
import { type FrameInspection, toNumberOrNull } from './frame-inspection.ts'

export function inspectInteractionsEvent(inspection: FrameInspection, value: Record<string, unknown>): void {
  const type = stringOrEmpty(value['event_type'])
  const { code } = objectOrEmpty(value['error'])
  if (getReasonOfErrorCode(code)) inspection.finishReasons.push(stringOrEmpty(code))
  else if (isObject(value['error'])) inspection.hasError = true
  if (Array.isArray(value['steps'])) return inspectWholeInteraction(inspection, value)
  const interaction = objectOrEmpty(value['interaction'])
  if (isObject(interaction['usage'])) inspection.usages.push(interaction['usage'])
  if (type === 'interaction.created') inspection.startCount++
  if (type === 'interaction.completed' && typeof interaction['status'] === 'string')
    inspection.finishReasons.push(interaction['status'])
  const index = toNumberOrNull(value['index'])
  const delta = objectOrEmpty(value['delta'])
  if (type === 'step.start') {
    inspection.blockIndexes.push(index)
    inspection.hasOpenBlock = true
    inspectStep(inspection, objectOrEmpty(value['step']), index)
  } else if (type === 'step.delta') {
    if (index === null) inspection.blockIndexes.push(null)
    if (delta['type'] === 'text') inspection.text += stringOrEmpty(delta['text'])
    if (delta['type'] === 'arguments_delta')
      inspection.fragments.push({ index, arguments: delta['arguments'], startsCall: false })
  } else if (type === 'step.stop') inspection.hasOpenBlock = false
}

function inspectWholeInteraction(inspection: FrameInspection, interaction: Record<string, unknown>): void {
  inspection.startCount++
  if (isObject(interaction['usage'])) inspection.usages.push(interaction['usage'])
  const { code } = filterObjects(interaction['errors'])[0] ?? {}
  if (interaction['status'] === 'failed' && !getReasonOfErrorCode(code)) inspection.hasError = true
  if (typeof interaction['status'] === 'string') inspection.finishReasons.push(interaction['status'])
  for (const step of filterObjects(interaction['steps'])) inspectStep(inspection, step, undefined)
}

/** In a stream, a call starts with an empty object as its arguments; in a whole body the object is complete. */
function inspectStep(
  inspection: FrameInspection,
  step: Record<string, unknown>,
  index: number | null | undefined,
): void {
  if (step['type'] === 'model_output')
    for (const content of filterObjects(step['content'])) inspection.text += stringOrEmpty(content['text'])
  if (step['type'] !== 'function_call') return
  const { id, name, arguments: args } = step
  const isPlaceholder = isObject(args) && Object.keys(args).length === 0
  const text = index === undefined ? JSON.stringify(args ?? {}) : isPlaceholder ? undefined : args
  inspection.fragments.push({ index, id, name, arguments: text, startsCall: true })
}
