import { isObject, type JsonObject } from '../../model/json.ts'
import type { AssistantPart, Finish } from '../../model/turn.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'
import type { ResponseMetadata, ResponseWriter, VendorErrorReport } from '../response-writer.ts'
import {
  createFinishLabeler,
  createResponseStream,
  getNativeData,
  getResponseFields,
  getVendorCallId,
} from '../response-writer.ts'
import { hasFields } from '../other-fields.ts'
import { mergeObjects } from '../provider-options.ts'
import { markAsRawJson } from '../json/raw-json.ts'
import { defined } from '../../model/defined.ts'

export const geminiResponseWriter: ResponseWriter = createResponseWriter('gemini', (response) => response)

/** In Code Assist's envelope; calls have no ids there. */
export const codeAssistResponseWriter: ResponseWriter = createResponseWriter('code-assist', (response) => ({
  response,
  traceId: 'dragoman',
}))

type GeminiWire = 'gemini' | 'code-assist'

type OtherFields = ReturnType<typeof getResponseFields>

function createResponseWriter(wire: GeminiWire, wrap: (response: JsonObject) => JsonObject): ResponseWriter {
  const wrapChunk = (chunk: JsonObject, { envelope }: OtherFields = {}) => ({ ...wrap(chunk), ...envelope })
  return {
    startStream(head) {
      let promptUsage = NO_USAGE
      /** Calls that were written, by name and arguments. */
      const writtenCalls = new Set<string>()
      const frame = (parts: JsonObject[], end: Parameters<typeof createChunk>[2] = { usage: promptUsage }) => ({
        data: wrapChunk(createChunk(head, parts, end), end.others),
      })
      return createResponseStream({
        begin(usage) {
          promptUsage = usage
          return []
        },
        openPart: () => [],
        // Calls are never streamed.
        addDelta: (_at, { kind }, text) =>
          kind === 'call' || kind === 'media' ? [] : [frame([toTextPart(kind, text)])],
        closePart(_at, part) {
          const isWhole = part.kind === 'media' || getNativePart(part, wire) !== undefined
          if (part.kind === 'call') {
            const key = JSON.stringify([part.name, part.raw])
            // Code Assist has no ids, but a frame that equals an earlier one would be taken for a repeat (T128).
            const hasId = wire === 'gemini' || writtenCalls.has(key)
            writtenCalls.add(key)
            return [frame(toWholeParts(part, wire, hasId))]
          }
          if (isWhole) return [frame(toWholeParts(part, wire))]
          // A signature after the text is on an empty part.
          const fields = getPartFields(part, wire)
          return hasFields(fields) ? [frame([{ ...toTextPart(part.kind, ''), ...fields }])] : []
        },
        end({ finish, parts, usage }) {
          // The last frame has an empty text, as in newer models.
          const hasCalls = parts.some(({ kind }) => kind === 'call')
          const others = getResponseFields(finish, wire)
          return [frame(hasCalls || parts.length === 0 ? [] : [{ text: '' }], { usage, finish, others })]
        },
      })
    },
    writeWhole({ parts, finish, usage = NO_USAGE }, head) {
      const others = getResponseFields(finish, wire)
      const written = parts.flatMap((part) => toWholeParts(part, wire))
      return wrapChunk(createChunk(head, written, { usage, finish, others }), others)
    },
    writeError: createErrorBody,
    writeErrorFrame: (given) => ({ data: createErrorBody(given.status === 529 ? { ...given, status: 503 } : given) }),
  }
}

function toTextPart(kind: 'text' | 'reasoning', text: string): JsonObject {
  return { text, ...(kind === 'reasoning' && { thought: true }) }
}

function toWholeParts(part: AssistantPart, wire: GeminiWire, hasId = wire === 'gemini'): JsonObject[] {
  const fields = getPartFields(part, wire)
  const native = getNativePart(part, wire)
  if (native) return [native]
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      if (part.text === '' && !hasFields(fields)) return []
      return [{ ...toTextPart(part.kind, part.text), ...fields }]
    case 'media':
      if (part.data === undefined) return [{ fileData: { mimeType: part.mime, fileUri: part.uri ?? '' }, ...fields }]
      return [{ inlineData: { mimeType: part.mime, data: part.data }, ...fields }]
    case 'call': {
      const id = hasId ? { id: getVendorCallId(part) } : {}
      const { callFields } = getNativeData(part, wire)
      const call = { ...id, name: part.name, args: markAsRawJson(part.raw), ...(isObject(callFields) && callFields) }
      return [{ functionCall: call, ...fields }]
    }
    default:
      return part satisfies never
  }
}

/** A part that only the vendor understands, as it was received. */
function getNativePart(part: AssistantPart, wire: GeminiWire): JsonObject | undefined {
  const { part: native } = getNativeData(part, wire)
  return isObject(native) ? native : undefined
}

/** The signature of a part, and what else it had. */
function getPartFields(part: AssistantPart, wire: GeminiWire): JsonObject {
  const { thoughtSignature, fields } = getNativeData(part, wire)
  return { ...defined({ thoughtSignature }), ...(isObject(fields) && fields) }
}

/** A response or a chunk of one; only the last chunk has `finish`. */
function createChunk(
  { id, model }: ResponseMetadata,
  parts: JsonObject[],
  { usage, finish, others = {} }: { readonly usage: Usage; readonly finish?: Finish; readonly others?: OtherFields },
): JsonObject {
  const finishReason = finish && toVendorFinishReason(finish)
  const candidate = {
    content: parts.length > 0 ? { parts, role: 'model' } : { role: 'model' },
    ...defined({ finishReason }),
    ...(finish?.fault && { finishMessage: finish.fault.message }),
    index: 0,
  }
  const chunk = {
    candidates: [mergeObjects(candidate, others['candidate'] ?? {})],
    usageMetadata: toUsageMetadata(usage, finish !== undefined),
    modelVersion: model,
    responseId: id,
  }
  return mergeObjects(chunk, others['response'] ?? {})
}

const toVendorFinishReason = createFinishLabeler({
  stop: 'STOP',
  calls: 'STOP',
  length: 'MAX_TOKENS',
  filter: 'SAFETY',
  'malformed-call': 'MALFORMED_FUNCTION_CALL',
  aborted: 'OTHER',
  fault: 'OTHER',
})

function toUsageMetadata(usage: Usage, isLast: boolean): JsonObject {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    promptTokenCount: prompt,
    ...(isLast && { candidatesTokenCount: usage.output }),
    totalTokenCount: prompt + (isLast ? usage.output + usage.reasoning : 0),
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
  }
}

function createErrorBody({ status, message, code }: VendorErrorReport): JsonObject {
  const statusName = STATUS_NAMES.get(status) ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
  const reason = code === undefined ? {} : { details: [{ '@type': ERROR_INFO, reason: code, domain: 'dragoman' }] }
  return { error: { code: status, message, status: statusName, ...reason } }
}

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo'

const STATUS_NAMES: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [409, 'ABORTED'],
  [429, 'RESOURCE_EXHAUSTED'],
  [499, 'CANCELLED'],
  [501, 'UNIMPLEMENTED'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
])
