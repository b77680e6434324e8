import { defined } from '../../model/defined.ts'
import { filterObjects, isObject, type JsonObject, objectOrEmpty } from '../../model/json.ts'
import type { AssistantPart, Finish } from '../../model/turn.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'
import type { PartStart, ResponseMetadata, ResponseWriter } from '../response-writer.ts'
import type { VendorErrorReport, WrittenResponseFrame } from '../response-writer.ts'
import {
  createFinishLabeler,
  createResponseStream,
  getNativeData,
  getResponseFields,
  getVendorCallId,
} from '../response-writer.ts'
import { createFieldFilter, hasFields } from '../other-fields.ts'
import { mergeObjects } from '../provider-options.ts'
import { formatTime } from './format-time.ts'
import { markAsRawJson } from '../json/raw-json.ts'

export const interactionsResponseWriter: ResponseWriter = {
  startStream(head) {
    const frame = (type: string, fields: JsonObject): WrittenResponseFrame => ({
      event: type,
      data: { ...fields, event_type: type },
    })
    const delta = (fields: JsonObject) => frame('step.delta', { index, delta: fields })
    let index = -1
    let isStarted = false
    let opening: JsonObject = {}
    /** A step starts with its first content, because a step of another type is known only when it is complete. */
    const start = (step: JsonObject): WrittenResponseFrame[] => {
      if (isStarted) return []
      isStarted = true
      index++
      return [frame('step.start', { index, step })]
    }
    return createResponseStream({
      begin() {
        const { id, status } = createInteraction(head, 'in_progress')
        return [
          frame('interaction.created', { interaction: createInteraction(head, 'in_progress') }),
          frame('interaction.status_update', { interaction_id: id ?? '', status: status ?? '' }),
        ]
      },
      openPart(_at, part) {
        isStarted = false
        opening = getNativeData(part, 'interactions')
        return part.kind === 'call' ? start(startStep(part, opening)) : []
      },
      addDelta(_at, part, text) {
        if (part.kind === 'media' || text === '') return []
        return [...start(startStep(part, opening)), delta(toDelta(part.kind, text))]
      },
      closePart(_at, part) {
        const step = toStep(part)
        if (!step) return []
        const isWhole = !isStarted && part.kind !== 'reasoning'
        // The index of the deltas is that of the step, which starts before them.
        const started = start(isWhole ? step : { type: step['type'] ?? '', ...objectOrEmpty(opening['step']) })
        const rest = isWhole ? [] : listClosingDeltas(part, opening).map(delta)
        return [...started, ...rest, frame('step.stop', { index })]
      },
      end({ finish, usage }) {
        const error = toErrorReport(finish)
        const { interaction: others = {} } = getResponseFields(finish, 'interactions')
        const interaction = mergeObjects(createInteraction(head, error ? 'failed' : toStatus(finish), usage), others)
        const { id = '', status = '', usage: usageBody } = interaction
        const last = error
          ? [
              // An error has no field for the usage.
              frame('interaction.status_update', { interaction_id: id, status, ...defined({ usage: usageBody }) }),
              interactionsResponseWriter.writeErrorFrame(error),
            ]
          : [frame('interaction.completed', { interaction })]
        return [...last, { event: 'done', data: '[DONE]', raw: '[DONE]', isTrailer: true }]
      },
    })
  },
  writeWhole({ parts, finish, usage = NO_USAGE }, head) {
    const error = toErrorReport(finish)
    const { interaction: others = {} } = getResponseFields(finish, 'interactions')
    return {
      ...mergeObjects(createInteraction(head, error ? 'failed' : toStatus(finish), usage), others),
      steps: parts.map(toStep).filter((step) => step !== undefined),
      ...(error && { errors: [toErrorFields(error)] }),
    }
  },
  writeError: (error) => ({ error: toErrorFields(error) }),
  writeErrorFrame: (error) => ({ event: 'error', data: { error: toErrorFields(error), event_type: 'error' } }),
}

/** `data` is what is known already of its native data. */
function startStep(part: Exclude<PartStart, { kind: 'media' }>, { step, fields }: JsonObject): JsonObject {
  if (part.kind === 'call')
    return { type: 'function_call', id: part.id, name: part.name, arguments: {}, ...(isObject(fields) && fields) }
  return { ...(isObject(step) && step), type: part.kind === 'text' ? 'model_output' : 'thought' }
}

function toDelta(kind: 'text' | 'reasoning' | 'call', text: string): JsonObject {
  if (kind === 'call') return { type: 'arguments_delta', arguments: text }
  return kind === 'text' ? { type: 'text', text } : { type: 'thought_summary', content: { type: 'text', text } }
}

/** What follows the content of a step: citations, signatures, and other fields that were not known at its start. */
function listClosingDeltas(part: AssistantPart, opening: JsonObject): JsonObject[] {
  const { fields } = getNativeData(part, 'interactions')
  const { annotations, signature, ...others } = isObject(fields) ? fields : {}
  switch (part.kind) {
    case 'text':
      return [
        ...(annotations === undefined ? [] : [{ type: 'text_annotation_delta', annotations }]),
        ...(hasFields(others) ? [{ type: 'text', text: '', ...others }] : []),
      ]
    case 'reasoning': {
      const { signature: signed, summary } = getStepFields(part)
      const contents = filterObjects(summary).flatMap((content) => pickContentDelta(content) ?? [])
      return [
        ...contents.map((content) => ({ type: 'thought_summary', content })),
        ...(signed === undefined ? [] : [{ type: 'thought_signature', signature: signed }]),
      ]
    }
    case 'call':
      return opening['fields'] || signature === undefined ? [] : [{ type: 'thought_signature', signature }]
    case 'media':
      return []
    default:
      return part satisfies never
  }
}

/** A content of a thought that is not only text; its text was sent before. */
function pickContentDelta(content: Record<string, unknown>): JsonObject | undefined {
  if (typeof content['text'] !== 'string') return content as JsonObject
  const others = pickContentFields(content)
  return others && { type: 'text', text: '', ...others }
}

const pickContentFields = createFieldFilter('type text')

/** Undefined for a part without content. A step that only the vendor understands is written as it was received. */
function toStep(part: AssistantPart): JsonObject | undefined {
  const { step, fields } = getNativeData(part, 'interactions')
  const others = isObject(fields) ? fields : {}
  if (isObject(step)) return step
  switch (part.kind) {
    case 'text':
      if (part.text === '') return undefined
      return { type: 'model_output', content: [{ type: 'text', text: part.text, ...others }] }
    case 'reasoning': {
      const { signature } = getStepFields(part)
      return { type: 'thought', summary: [{ type: 'text', text: part.text }], ...defined({ signature }) }
    }
    case 'media':
      return { type: 'model_output', content: [{ ...toMediaContent(part), ...others }] }
    case 'call': {
      const { name, raw } = part
      return {
        type: 'function_call',
        id: getVendorCallId(part),
        name,
        arguments: markAsRawJson(raw === '' ? '{}' : raw),
        ...others,
      }
    }
    default:
      return part satisfies never
  }
}

function toMediaContent({ mime, data, uri }: Extract<AssistantPart, { kind: 'media' }>): JsonObject {
  const type = /^(?:image|audio|video)(?=\/)/.exec(mime)?.[0] ?? 'document'
  return { type, mime_type: mime, ...(data === undefined ? { uri: uri ?? '' } : { data }) }
}

/** The signature of a thought: of this wire's own step, or of a scripted model. */
function getStepFields(part: AssistantPart): JsonObject {
  const data = getNativeData(part, 'interactions')
  return isObject(data['step']) ? data['step'] : data
}

/** Steps are only in whole responses. */
function createInteraction({ id, model, created }: ResponseMetadata, status: string, usage?: Usage): JsonObject {
  const time = formatTime(created)
  return {
    id,
    object: 'interaction',
    model,
    status,
    created: time,
    updated: time,
    ...(usage && { usage: toUsageBody(usage) }),
  }
}

function toUsageBody(usage: Usage): JsonObject {
  const input = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    total_tokens: input + usage.output + usage.reasoning,
    total_input_tokens: input,
    total_cached_tokens: usage.cacheRead,
    total_output_tokens: usage.output,
    total_tool_use_tokens: 0,
    total_thought_tokens: usage.reasoning,
  }
}

const toStatus = createFinishLabeler({
  stop: 'completed',
  calls: 'requires_action',
  length: 'incomplete',
  filter: 'failed',
  'malformed-call': 'failed',
  aborted: 'cancelled',
  fault: 'incomplete',
})

/** Blocked and malformed responses have an error code instead of a status. */
function toErrorReport({ reason, raw, fault }: Finish): VendorErrorReport | undefined {
  if (raw !== undefined) return undefined
  if (reason === 'filter') return { status: 400, code: 'safety', message: 'The response was blocked for safety.' }
  if (reason !== 'malformed-call') return undefined
  return { status: 400, code: 'malformed_function_call', message: fault?.message ?? 'The call could not be parsed.' }
}

function toErrorFields({ status, message, code }: VendorErrorReport): JsonObject {
  return { message, code: code ?? CODES.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request') }
}

const CODES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication'],
  [402, 'payment_required'],
  [403, 'permission_denied'],
  [404, 'not_found'],
  [409, 'aborted'],
  [429, 'rate_limit_exceeded'],
  [499, 'cancelled'],
  [501, 'unimplemented'],
  [503, 'service_unavailable'],
  [504, 'deadline_exceeded'],
  [529, 'service_unavailable'],
])
