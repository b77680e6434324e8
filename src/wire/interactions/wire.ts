import { BASE_PROFILE } from '../base-profile.ts'
import type { InteractionsDecoderState } from './decode-response.ts'
import { decodeInteractionsFrame, finishInteractionsDecoding, startInteractionsDecoding } from './decode-response.ts'
import { encodeInteractionsRequest } from './encode-request.ts'
import { readInteractionsRequest } from './read-request.ts'
import { interactionsResponseWriter } from './write-response.ts'
import type { Wire } from '../wire.ts'

/** Gemini's Interactions API: typed steps. Every request has the whole history, and nothing is stored on the server. */
export const interactions: Wire<InteractionsDecoderState> = {
  id: 'interactions',
  profile: {
    ...BASE_PROFILE,
    signer: 'interactions',
    dialect: 'gemini-json',
    resultName: true,
    signatures: 'required',
    nestedMedia: true,
    thinking: 'level',
    outputWithTools: true,
  },
  encodeRequest: encodeInteractionsRequest,
  startDecoding: startInteractionsDecoding,
  decodeFrame: decodeInteractionsFrame,
  finishDecoding: finishInteractionsDecoding,
  readRequest: readInteractionsRequest,
  responseWriter: interactionsResponseWriter,
}
