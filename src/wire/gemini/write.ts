import type { JsonObject } from '../../model/json.ts'
import type { AssistantPart, Finish } from '../../model/turn.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'
import {
  callIdOf,
  finishWord,
  type FinishWords,
  nativeData,
  type ResponseCodec,
  type ResponseError,
  type ResponseHead,
  streamWith,
} from '../response.ts'
import { verbatim } from '../verbatim.ts'

/** Writes responses as generateContent and streamGenerateContent send them. */
export const geminiResponse: ResponseCodec = createCodec('gemini', (response) => response)

/** The same inside Code Assist's envelope, where calls have no ids. */
export const codeAssistResponse: ResponseCodec = createCodec('code-assist', (response) => ({
  response,
  traceId: 'dragoman',
}))

type GeminiWire = 'gemini' | 'code-assist'

function createCodec(wire: GeminiWire, wrap: (response: JsonObject) => JsonObject): ResponseCodec {
  return {
    stream(head) {
      let promptUsage = NO_USAGE
      const frame = (parts: JsonObject[], end?: Parameters<typeof chunk>[2]) => ({
        data: wrap(chunk(head, parts, end ?? { usage: promptUsage })),
      })
      return streamWith({
        begin(usage) {
          promptUsage = usage
          return []
        },
        openPart: () => [],
        // Calls are never sent in pieces.
        addDelta: (_at, { kind }, text) => (kind === 'call' || kind === 'media' ? [] : [frame([textPart(kind, text)])]),
        closePart(_at, part) {
          if (part.kind === 'call' || part.kind === 'media') return [frame(wholePart(part, wire))]
          // A signature that comes after the text stands on an empty part.
          const signature = signatureOf(part, wire)
          return Object.keys(signature).length > 0 ? [frame([{ ...textPart(part.kind, ''), ...signature }])] : []
        },
        end({ finish, parts, usage }) {
          // The end comes with an empty text, as the newer models send it.
          const hasCalls = parts.some(({ kind }) => kind === 'call')
          return [frame(hasCalls || parts.length === 0 ? [] : [{ text: '' }], { usage, finish })]
        },
      })
    },
    whole: ({ parts, finish, usage = NO_USAGE }, head) =>
      wrap(
        chunk(
          head,
          parts.flatMap((part) => wholePart(part, wire)),
          { usage, finish },
        ),
      ),
    error,
    errorFrame: (given) => ({ data: error(given.status === 529 ? { ...given, status: 503 } : given) }),
  }
}

function textPart(kind: 'text' | 'reasoning', text: string): JsonObject {
  return { text, ...(kind === 'reasoning' && { thought: true }) }
}

function wholePart(part: AssistantPart, wire: GeminiWire): JsonObject[] {
  const signature = signatureOf(part, wire)
  if (part.kind === 'text' || part.kind === 'reasoning')
    return part.text === '' && Object.keys(signature).length === 0
      ? []
      : [{ ...textPart(part.kind, part.text), ...signature }]
  if (part.kind === 'media')
    return part.data === undefined
      ? [{ fileData: { mimeType: part.mime, fileUri: part.uri ?? '' } }]
      : [{ inlineData: { mimeType: part.mime, data: part.data } }]
  const id = wire === 'gemini' ? { id: callIdOf(part) } : {}
  return [{ functionCall: { ...id, name: part.name, args: verbatim(part.raw) }, ...signature }]
}

function signatureOf(part: AssistantPart, wire: GeminiWire): JsonObject {
  const { thoughtSignature } = nativeData(part, wire)
  return thoughtSignature === undefined ? {} : { thoughtSignature }
}

/** A response or a piece of one; the last piece says how it ended. */
function chunk(
  { id, model }: ResponseHead,
  parts: JsonObject[],
  { usage, finish }: { readonly usage: Usage; readonly finish?: Finish },
): JsonObject {
  const word = finish && finishWord(finish, WORDS)
  const candidate = {
    content: parts.length > 0 ? { parts, role: 'model' } : { role: 'model' },
    ...(word !== undefined && { finishReason: word }),
    ...(finish?.fault && { finishMessage: finish.fault.message }),
    index: 0,
  }
  return {
    candidates: [candidate],
    usageMetadata: usageOf(usage, finish !== undefined),
    modelVersion: model,
    responseId: id,
  }
}

const WORDS: FinishWords = {
  stop: 'STOP',
  calls: 'STOP',
  length: 'MAX_TOKENS',
  filter: 'SAFETY',
  'malformed-call': 'MALFORMED_FUNCTION_CALL',
  aborted: 'OTHER',
  fault: 'OTHER',
}

function usageOf(usage: Usage, isLast: boolean): JsonObject {
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

function error({ status, message, code }: ResponseError): JsonObject {
  const word = STATUS_WORDS.get(status) ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
  const reason = code === undefined ? {} : { details: [{ '@type': ERROR_INFO, reason: code, domain: 'dragoman' }] }
  return { error: { code: status, message, status: word, ...reason } }
}

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo'

const STATUS_WORDS: ReadonlyMap<number, string> = new Map([
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
