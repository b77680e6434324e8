import type { Warning } from '../../model/event.ts'
import { isObject, type Json, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import { findResultMedia, formatResultText, toWellFormed, toWellFormedJson } from '../../model/text.ts'
import type { AssistantPart, MediaPart, ResultPart, TextPart } from '../../model/turn.ts'
import { formatCallPart, formatResultPart } from '../text-calls/format-text-calls.ts'
import type { AssistantStep, CallResultPair, EncodeContext, TranscriptStep } from '../history/transcript.ts'
import { getReplayableData, hasNativeDataFor, toWireArguments } from '../history/transcript.ts'
import { warnAboutPartner } from '../unread-fields.ts'
import { createTextContent, encodeMediaContent } from './content.ts'

/** The documented sentinel for calls whose signature is not known (T120, T189). */
const SKIP_SIGNATURE = 'skip_thought_signature_validator'

/** The steps of the assistant in their order, then the results in the order of the calls (T92). */
export function encodeSteps(step: TranscriptStep, context: EncodeContext, warnings: Warning[]): JsonObject[] {
  if (step.kind === 'user')
    return [{ type: 'user_input', content: step.parts.map((part) => encodeContent(part, context)) }]
  if (context.profile.tools === 'text') return encodeTextSteps(step, context)
  const results = step.pairs.map(({ call, id, result }) => encodeResultStep(id, call.name, result, context))
  return [...encodeAssistantSteps(step, context, warnings), ...results]
}

/** Media are inside the result (T100), and its status is a field. */
export function encodeResultStep(callId: string, name: string, result: ResultPart, context: EncodeContext): JsonObject {
  const toolName = context.projection.toWireName(name)
  return {
    type: 'function_result',
    call_id: callId,
    ...(name !== '' && { name: toolName }),
    result: encodeResult(result, context),
    ...(result.status !== 'ok' && { is_error: true }),
  }
}

function encodeResult(result: ResultPart, context: EncodeContext): Json {
  const { profile } = context
  const hasFields = result.content.some((part) => getReplayableData(part, context))
  if (hasFields) return result.content.map((part) => encodeContent(part, context))
  const media = findResultMedia(result)
  const hasText = result.content.some((part) => part.kind === 'text' && part.text.trim() !== '')
  if (!hasText && media.length === 0 && isObject(result.data)) return toWellFormedJson(result.data)
  // Beside media, a structured result or an error is sent as text.
  const isMediaOnly = !hasText && media.length > 0 && result.data === undefined && result.error === undefined
  const text = isMediaOnly ? [] : [createTextContent(formatResultText(result))]
  return [...text, ...media.map((part) => encodeMediaContent(part, profile))]
}

/** With the fields that this endpoint added, such as citations and resolutions. */
function encodeContent(part: TextPart | MediaPart, context: EncodeContext): JsonObject {
  const data = getReplayableData(part, context)
  const content = part.kind === 'text' ? createTextContent(part.text) : encodeMediaContent(part, context.profile)
  const isUnchanged = part.kind === 'text' ? content['text'] === part.text : content['type'] !== 'text'
  return isUnchanged && isObject(data?.['fields']) ? { ...content, ...data['fields'] } : content
}

function encodeAssistantSteps(step: AssistantStep, context: EncodeContext, warnings: Warning[]): JsonObject[] {
  const pairsByCall = new Map<AssistantPart, CallResultPair>(step.pairs.map((pair) => [pair.call, pair]))
  const steps: JsonObject[] = []
  /** Text and media that follow each other are the content of one step. */
  let content: JsonObject[] | undefined
  const addContent = (one: JsonObject) => {
    if (!content) steps.push({ type: 'model_output', content: (content = []) })
    content.push(one)
  }
  const addStep = (one: JsonObject) => {
    content = undefined
    steps.push(one)
  }
  for (const part of step.parts) {
    switch (part.kind) {
      case 'call': {
        const pair = pairsByCall.get(part)
        if (!pair) break
        // A call without a signed thought before it is rejected (T117, T189).
        if (context.profile.signatures === 'required' && !steps.some(({ type }) => type === 'thought'))
          addStep({ type: 'thought', signature: SKIP_SIGNATURE })
        addStep(encodeCallStep(pair, context))
        break
      }
      case 'reasoning': {
        const thought = context.profile.replay === 'own' ? getReplayableData(part, context)?.['step'] : undefined
        if (isObject(thought) && context.profile.signatures !== 'never') addStep(thought)
        break
      }
      case 'media':
        if (hasNativeDataFor(part, context)) addContent(encodeContent(part, context))
        else addContent(createTextContent(`(${part.mime} was shown here)`))
        break
      case 'text': {
        const native = getReplayableData(part, context)?.['step']
        if (part.text.trim() !== '') addContent(encodeContent(part, context))
        else if (isObject(native) && hasPartnerStep(native, step.parts)) addStep(native)
        else if (isObject(native) && !step.isReported) warnAboutPartner(native, warnings)
        break
      }
      default:
        part satisfies never
    }
  }
  return steps
}

function encodeCallStep({ call, id }: CallResultPair, context: EncodeContext): JsonObject {
  const fields = getReplayableData(call, context)?.['fields']
  return {
    type: 'function_call',
    id,
    name: context.projection.toWireName(call.name),
    arguments: toWireArguments(call, context.projection),
    ...(isObject(fields) && fields),
  }
}

/** The call of a server's tool without its result, or a result without its call, is left out. */
function hasPartnerStep(step: JsonObject, parts: readonly AssistantPart[]): boolean {
  const [, name, end] = /^(.+)_(call|result)$/.exec(stringOrEmpty(step['type'])) ?? []
  if (name === undefined) return true
  const [own, other] = end === 'call' ? ['id', 'call_id'] : ['call_id', 'id']
  return parts.some((part) => {
    const data = part.native?.data
    const one = isObject(data) ? data['step'] : undefined
    const type = `${name}_${end === 'call' ? 'result' : 'call'}`
    return isObject(one) && one['type'] === type && one[other ?? ''] === step[own ?? '']
  })
}

/** A model without native calls gets its own calls and their results as text, in the format that it is asked to use. */
function encodeTextSteps(step: AssistantStep, { profile, projection }: EncodeContext): JsonObject[] {
  const texts = step.parts.flatMap((part) => (part.kind === 'text' && part.text.trim() !== '' ? [part.text] : []))
  const calls = step.pairs.map(({ call }) => formatCallPart(call, projection))
  const results = step.pairs.flatMap((pair) => [
    createTextContent(formatResultPart(pair, projection)),
    ...findResultMedia(pair.result).map((part) => encodeMediaContent(part, profile)),
  ])
  const output = [...texts.map(toWellFormed), ...calls].map(createTextContent)
  return [
    ...(output.length > 0 ? [{ type: 'model_output', content: output }] : []),
    ...(results.length > 0 ? [{ type: 'user_input', content: results }] : []),
  ]
}
