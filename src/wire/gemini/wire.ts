import type { Profile } from '../../model/profile.ts'
import {
  type GeminiDecoderState,
  startGeminiDecoding,
  decodeGeminiFrame,
  finishGeminiDecoding,
} from './decode-response.ts'
import { encodeGeminiRequest } from './encode-request.ts'
import { readGeminiRequest } from './read-request.ts'
import { geminiResponseWriter } from './write-response.ts'
import type { Wire } from '../wire.ts'

const geminiProfile: Profile = {
  signer: 'gemini',
  tools: 'native',
  dialect: 'gemini-json',
  ids: 'any',
  media: true,
  refuses: [],
  replay: 'own',
  emptyContent: 'omit',
  maxTokensField: 'max_tokens',
  systemRole: 'system',
  alternate: true,
  bridge: false,
  resultName: true,
  streamUsage: true,
  cache: 'none',
  entities: false,
  think: false,
  signatures: 'required',
  nestedMedia: true,
  thinking: 'budget',
  constrain: false,
  eagerArguments: false,
  encryptedReasoning: false,
}

/** Gemini's generateContent, as AI Studio and Vertex speak it. */
export const gemini: Wire<GeminiDecoderState> = {
  id: 'gemini',
  profile: geminiProfile,
  encodeRequest: encodeGeminiRequest,
  startDecoding: (context) => startGeminiDecoding('gemini', context),
  decodeFrame: decodeGeminiFrame,
  finishDecoding: finishGeminiDecoding,
  readRequest: readGeminiRequest,
  responseWriter: geminiResponseWriter,
}
