import { BASE_PROFILE } from '../base-profile.ts'
import type { GeminiDecoderState } from './decode-response.ts'
import { decodeGeminiFrame, finishGeminiDecoding, startGeminiDecoding } from './decode-response.ts'
import { encodeGeminiRequest } from './encode-request.ts'
import { readGeminiRequest } from './read-request.ts'
import { geminiResponseWriter } from './write-response.ts'
import type { Wire } from '../wire.ts'

/** Gemini's generateContent API, of AI Studio and Vertex. */
export const gemini: Wire<GeminiDecoderState> = {
  id: 'gemini',
  profile: {
    ...BASE_PROFILE,
    signer: 'gemini',
    dialect: 'gemini-json',
    alternate: true,
    resultName: true,
    signatures: 'required',
    nestedMedia: true,
    thinking: 'budget',
  },
  encodeRequest: encodeGeminiRequest,
  startDecoding: (context) => startGeminiDecoding('gemini', context),
  decodeFrame: decodeGeminiFrame,
  finishDecoding: finishGeminiDecoding,
  readRequest: readGeminiRequest,
  responseWriter: geminiResponseWriter,
}
