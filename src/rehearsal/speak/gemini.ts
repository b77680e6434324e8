import type { JsonObject } from '../../model/json.ts'
import { type Answer, type AnswerCall, type AnswerPart, callsOf, cutUp } from '../answer.ts'
import { sign } from '../marks.ts'
import { type Frame, parsed, type Speaker, type Spot, TROUBLES } from './speaker.ts'
import { verbatim } from './verbatim.ts'

/** Gemini's generateContent. */
export const gemini: Speaker = speaker((answer) => answer, true)

/** The same inside Code Assist's envelope, where calls have no ids. */
export const codeAssist: Speaker = speaker((response) => ({ response, traceId: 'rehearsal' }), false)

function speaker(wrap: (body: JsonObject) => JsonObject, ids: boolean): Speaker {
  return {
    frames: (answer) => frames(answer, ids).map((frame) => ({ ...frame, data: wrap(frame.data as JsonObject) })),
    whole(answer) {
      const parts = answer.parts.map((part) => wirePart(part, answer, ids))
      return wrap(chunk(answer, parts, true))
    },
    fault,
    trouble(trouble) {
      const { status, message } = TROUBLES[trouble]
      return { data: fault(status === 529 ? 503 : status, message), spot: 'text' }
    },
  }
}

function frames(answer: Answer, ids: boolean): Frame[] {
  const made: { spot: Spot; part: JsonObject; call?: number }[] = []
  let calls = 0
  for (const part of answer.parts) {
    if (part.kind === 'call') made.push({ spot: 'call', part: wirePart(part, answer, ids), call: calls++ })
    else {
      const spot = part.kind === 'text' ? 'text' : 'thinking'
      for (const text of cutUp(part.text, answer.pieces))
        made.push({ spot, part: wirePart({ ...part, text }, answer, ids) })
    }
  }
  const sent = made.map(({ spot, part, call }): Frame => {
    return { data: chunk(answer, [part], false), spot, ...(call !== undefined && { call }) }
  })
  // The end comes with an empty text, as the newer models send it.
  const last = callsOf(answer).length > 0 || answer.parts.length === 0 ? [] : [{ text: '' }]
  return [...sent, { data: chunk(answer, last, true), spot: 'end' }]
}

function wirePart(part: AnswerPart, answer: Answer, ids: boolean): JsonObject {
  if (part.kind === 'text') return { text: part.text }
  if (part.kind === 'reasoning') return { text: part.text, thought: true }
  const call = functionCall(part, ids)
  // Only the first call of an answer is signed.
  const first = callsOf(answer)[0] === part
  return { functionCall: call, ...(first && { thoughtSignature: sign([part.name, parsed(part.raw)]) }) }
}

function functionCall(call: AnswerCall, ids: boolean): JsonObject {
  return { ...(ids && call.id !== undefined && { id: call.id }), name: call.name, args: verbatim(call.raw) }
}

function chunk(answer: Answer, parts: JsonObject[], last: boolean): JsonObject {
  const finish = last ? word(answer) : null
  const content = parts.length > 0 ? { content: { parts, role: 'model' } } : { content: { role: 'model' } }
  const candidate = {
    ...content,
    ...(finish !== null && { finishReason: finish }),
    ...(finish === 'MALFORMED_FUNCTION_CALL' && { finishMessage: `Malformed function call: ${written(answer)}` }),
    index: 0,
  }
  return {
    candidates: [candidate],
    usageMetadata: usageOf(answer, last),
    modelVersion: answer.model,
    responseId: answer.id,
  }
}

/** What a model writes that falls out of its own format. */
function written(answer: Answer): string {
  return `print(default_api.${answer.id.replace(/_.*/, '')}(`
}

function word(answer: Answer): string | null {
  return answer.word === undefined ? WORDS[answer.finish] : answer.word
}

const WORDS: Readonly<Record<Answer['finish'], string>> = {
  stop: 'STOP',
  calls: 'STOP',
  length: 'MAX_TOKENS',
  filter: 'SAFETY',
  'malformed-call': 'MALFORMED_FUNCTION_CALL',
}

function usageOf({ usage }: Answer, last: boolean): JsonObject {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  const made = last ? { candidatesTokenCount: usage.output } : {}
  return {
    promptTokenCount: prompt,
    ...made,
    totalTokenCount: prompt + (last ? usage.output + usage.reasoning : 0),
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
  }
}

function fault(status: number, message: string, code?: string): JsonObject {
  const word_ = STATUS_WORDS.get(status) ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
  const reason = code === undefined ? {} : { details: [{ '@type': ERROR_INFO, reason: code, domain: 'rehearsal' }] }
  return { error: { code: status, message, status: word_, ...reason } }
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
