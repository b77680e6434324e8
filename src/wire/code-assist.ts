import { isObject, type JsonObject } from '../model/json.ts'
import type { Profile } from '../model/profile.ts'
import type { Request } from '../model/request.ts'
import { gemini } from './gemini.ts'
import { type State, startOn, step, stop } from './gemini/decode.ts'
import { encodeOn } from './gemini/encode.ts'
import { readOn } from './gemini/read.ts'
import { codeAssistResponse } from './gemini/write.ts'
import type { Place } from './transcript.ts'
import type { Encoded, Wire } from './wire.ts'

/** Gemini inside Code Assist's envelope: the request under `request`, the answer under `response` (T131). */
export const codeAssist: Wire<State> = {
  id: 'code-assist',
  profile: { ...gemini.profile, signer: 'code-assist' },
  encode,
  start: (reading) => startOn('code-assist', reading),
  step,
  stop,
  read,
  response: codeAssistResponse,
}

/** Writes the envelope. The request is its last key, and the contents the last key of the request. */
function encode(request: Request, profile: Profile, place?: Place): Encoded {
  const extra = request.session === undefined ? {} : { session_id: request.session }
  const { body, warnings } = encodeOn('code-assist', request, profile, extra, place)
  const system = body.systemInstruction && { systemInstruction: { role: 'user', ...body.systemInstruction } }
  const envelope = {
    model: request.model,
    ...(request.project !== undefined && { project: request.project }),
    ...(request.prompt !== undefined && { user_prompt_id: request.prompt }),
    request: { ...body, ...system },
  }
  return { body: envelope as unknown as JsonObject, warnings }
}

function read(body: unknown): Request {
  const envelope = isObject(body) ? body : {}
  const inner = isObject(envelope['request']) ? envelope['request'] : envelope
  const request = readOn('code-assist', inner)
  return {
    ...request,
    model: typeof envelope['model'] === 'string' ? envelope['model'] : request.model,
    ...text('project', envelope['project']),
    ...text('prompt', envelope['user_prompt_id']),
    ...text('session', inner['session_id']),
  }
}

function text(key: 'project' | 'prompt' | 'session', value: unknown): Partial<Request> {
  return typeof value === 'string' && value !== '' ? { [key]: value } : {}
}
