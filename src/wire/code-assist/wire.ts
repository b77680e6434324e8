import { isObject, type JsonObject, nonBlankString, objectOrEmpty } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ModelRequest } from '../../model/request.ts'
import { gemini } from '../gemini/wire.ts'
import type { GeminiDecoderState } from '../gemini/decode-response.ts'
import { decodeGeminiFrame, finishGeminiDecoding, startGeminiDecoding } from '../gemini/decode-response.ts'
import { encodeGeminiBody } from '../gemini/encode-request.ts'
import { checkGeminiTypes } from '../gemini/field-types.ts'
import { readGeminiBody } from '../gemini/read-request.ts'
import { codeAssistResponseWriter } from '../gemini/write-response.ts'
import type { HistoryPosition } from '../history/transcript.ts'
import { pickOtherFields } from '../read-parts.ts'
import { warnNotKept } from '../unread-fields.ts'
import type { DecodedRequest, EncodedRequest, Wire } from '../wire.ts'
import { defined } from '../../model/defined.ts'

/** Gemini inside Code Assist's envelope: the request under `request`, the response under `response` (T131). */
export const codeAssist: Wire<GeminiDecoderState> = {
  id: 'code-assist',
  profile: { ...gemini.profile, signer: 'code-assist' },
  encodeRequest: encodeCodeAssistRequest,
  startDecoding: (context) => startGeminiDecoding('code-assist', context),
  decodeFrame: decodeGeminiFrame,
  finishDecoding: finishGeminiDecoding,
  readRequest: readCodeAssistRequest,
  responseWriter: codeAssistResponseWriter,
}

/** The request is the last key of the envelope, and the contents are the last key of the request. */
function encodeCodeAssistRequest(request: ModelRequest, profile: Profile, position?: HistoryPosition): EncodedRequest {
  const extra = request.session === undefined ? {} : { session_id: request.session }
  const { body, warnings } = encodeGeminiBody('code-assist', request, profile, extra, position)
  const system = body.systemInstruction && { systemInstruction: { role: 'user', ...body.systemInstruction } }
  const envelope = {
    model: request.model,
    ...defined({ project: request.project, user_prompt_id: request.prompt }),
    request: { ...body, ...system },
  }
  return { body: envelope as unknown as JsonObject, warnings }
}

function readCodeAssistRequest(body: unknown): DecodedRequest {
  const envelope = objectOrEmpty(body)
  const inner = isObject(envelope['request']) ? envelope['request'] : envelope
  const { request, warnings: found } = readGeminiBody('code-assist', inner)
  const warnings = [...found]
  if (inner !== envelope) checkGeminiTypes({ ...envelope, request: {} }, warnings)
  if (inner !== envelope)
    warnNotKept(warnings, 'A field of the envelope', pickOtherFields(envelope, 'model project user_prompt_id request'))
  const enveloped: ModelRequest = {
    ...request,
    model: typeof envelope['model'] === 'string' ? envelope['model'] : request.model,
    ...defined({
      project: nonBlankString(envelope['project']),
      prompt: nonBlankString(envelope['user_prompt_id']),
      session: nonBlankString(inner['session_id']),
    }),
  }
  return { request: enveloped, warnings }
}
