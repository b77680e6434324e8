import { BASE_PROFILE } from '../base-profile.ts'
import type { ResponsesDecoderState } from './decode-response.ts'
import { decodeResponsesFrame, finishResponsesDecoding, startResponsesDecoding } from './decode-response.ts'
import { encodeResponsesRequest } from './encode-request.ts'
import { readResponsesRequest } from './read-request.ts'
import { responsesResponseWriter } from './write-response.ts'
import type { Wire } from '../wire.ts'

/** OpenAI's Responses API, stateless: every request has the whole history, and nothing is stored on the server. */
export const openaiResponses: Wire<ResponsesDecoderState> = {
  id: 'openai-responses',
  profile: {
    ...BASE_PROFILE,
    signer: 'openai-responses',
    dialect: 'openai',
    maxTokensField: 'max_completion_tokens',
    streamUsage: false,
    cache: 'key',
    thinking: 'level',
    freeTextTools: true,
    encryptedReasoning: true,
    outputWithTools: true,
    lateTools: 'native',
  },
  encodeRequest: encodeResponsesRequest,
  startDecoding: startResponsesDecoding,
  decodeFrame: decodeResponsesFrame,
  finishDecoding: finishResponsesDecoding,
  readRequest: readResponsesRequest,
  responseWriter: responsesResponseWriter,
}
