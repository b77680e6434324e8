import type { Profile } from '../../model/profile.ts'
import {
  type ResponsesDecoderState,
  startResponsesDecoding,
  decodeResponsesFrame,
  finishResponsesDecoding,
} from './decode-response.ts'
import { encodeResponsesRequest } from './encode-request.ts'
import { readResponsesRequest } from './read-request.ts'
import { responsesResponseWriter } from './write-response.ts'
import type { Wire } from '../wire.ts'

const openaiResponsesProfile: Profile = {
  signer: 'openai-responses',
  tools: 'native',
  dialect: 'openai',
  ids: 'any',
  media: true,
  refuses: [],
  replay: 'own',
  emptyContent: 'omit',
  maxTokensField: 'max_completion_tokens',
  systemRole: 'system',
  alternate: false,
  bridge: false,
  resultName: false,
  streamUsage: false,
  cache: 'key',
  entities: false,
  think: false,
  signatures: 'optional',
  nestedMedia: false,
  thinking: 'level',
  constrain: false,
  eagerArguments: false,
  encryptedReasoning: true,
}

/** OpenAI's Responses API, stateless: the whole history goes with every request, and nothing is kept on the server. */
export const openaiResponses: Wire<ResponsesDecoderState> = {
  id: 'openai-responses',
  profile: openaiResponsesProfile,
  encodeRequest: encodeResponsesRequest,
  startDecoding: startResponsesDecoding,
  decodeFrame: decodeResponsesFrame,
  finishDecoding: finishResponsesDecoding,
  readRequest: readResponsesRequest,
  responseWriter: responsesResponseWriter,
}
