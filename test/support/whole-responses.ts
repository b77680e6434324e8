import type { JsonObject } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'

const USAGE_DETAILS = { cached_tokens: 1 }

const GEMINI: JsonObject = {
  candidates: [
    {
      index: 0,
      content: {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true, thoughtSignature: 'sig' },
          { text: 'I look.' },
          { inlineData: { mimeType: 'image/png', data: 'iVBORw0=' } },
          { executableCode: { language: 'PYTHON', code: '1' } },
          { functionCall: { id: 'c1', name: 'a', args: {} }, thoughtSignature: 'sig2' },
        ],
      },
      finishReason: 'STOP',
      safetyRatings: [{ category: 'c', probability: 'LOW' }],
      citationMetadata: { citationSources: [{ uri: 'https://example.com' }] },
      groundingMetadata: {
        groundingChunks: [{ web: { uri: 'https://example.com', title: 'Example' } }],
        webSearchQueries: ['x'],
      },
      urlContextMetadata: {
        urlMetadata: [{ retrievedUrl: 'https://example.com', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' }],
      },
    },
  ],
  promptFeedback: { safetyRatings: [{ category: 'c' }] },
  usageMetadata: {
    promptTokenCount: 3,
    candidatesTokenCount: 2,
    totalTokenCount: 5,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 3 }],
  },
  modelVersion: 'gemini-3-pro',
  responseId: 'r',
}

/** A response of each API that is not streamed, with what the API has. */
export const WHOLE_RESPONSES: Readonly<Record<WireId, JsonObject>> = {
  gemini: GEMINI,
  'code-assist': { response: GEMINI, traceId: 't' },
  interactions: {
    id: 'i1',
    object: 'interaction',
    model: 'gemini-3.8-flash',
    status: 'requires_action',
    created: '2026-01-01T00:00:00Z',
    updated: '2026-01-01T00:00:00Z',
    service_tier: 'standard',
    usage: {
      total_tokens: 5,
      total_input_tokens: 3,
      total_output_tokens: 2,
      input_tokens_by_modality: [{ modality: 'text', tokens: 3 }],
    },
    steps: [
      { type: 'thought', signature: 'sig', summary: [{ type: 'text', text: 'Hm.' }] },
      { type: 'google_search_call', id: 's1', arguments: { queries: ['x'] } },
      { type: 'google_search_result', call_id: 's1', result: [{ search_suggestions: 'x' }], signature: 'sig2' },
      {
        type: 'model_output',
        content: [
          {
            type: 'text',
            text: 'Yes.',
            annotations: [{ type: 'url_citation', url: 'https://example.com', start_index: 0, end_index: 3 }],
          },
          { type: 'image', mime_type: 'image/png', data: 'iVBORw0=' },
        ],
      },
      { type: 'thought', summary: [{ type: 'text', text: 'Unsigned.' }] },
      { type: 'function_call', id: 'c1', name: 'a', arguments: {}, signature: 'sig3' },
    ],
  },
  'openai-chat': {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    provider: 'P',
    citations: ['https://example.com'],
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'I look.',
          refusal: null,
          reasoning_content: 'Hm.',
          reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', index: 0 }],
          annotations: [{ type: 'url_citation', url_citation: { url: 'https://example.com' } }],
          images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=' } }],
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'a', arguments: '{}' },
              extra_content: { google: { thought_signature: 'sig' } },
            },
            { id: 'call_2', type: 'custom', custom: { name: 'b', input: 'x' } },
          ],
        },
        logprobs: { content: [{ token: 'I', logprob: 0 }] },
        finish_reason: 'tool_calls',
      },
    ],
    usage: {
      prompt_tokens: 3,
      completion_tokens: 2,
      total_tokens: 5,
      cost: 0.1,
      prompt_tokens_details: USAGE_DETAILS,
      completion_tokens_details: { reasoning_tokens: 1 },
    },
  },
  'openai-responses': {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'm',
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'sealed' },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'a', arguments: '{}', status: 'completed' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [
          { type: 'output_text', text: 'Yes.', annotations: [{ type: 'url_citation', url: 'https://example.com' }] },
        ],
      },
    ],
    usage: { input_tokens: 3, input_tokens_details: USAGE_DETAILS, output_tokens: 2, total_tokens: 5 },
  },
  anthropic: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      { type: 'thinking', thinking: 'Unsigned.', signature: '' },
      { type: 'redacted_thinking', data: 'sealed' },
      { type: 'text', text: 'Yes.', citations: [{ type: 'char_location', cited_text: 'w' }] },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: [{ type: 'web_search_result', url: 'https://example.com' }],
      },
      { type: 'tool_use', id: 'toolu_1', name: 'a', input: {}, caller: { type: 'direct' } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    container: { id: 'container_1' },
    context_management: { applied_edits: [{ type: 'clear_thinking_20251015' }] },
    usage: { input_tokens: 3, output_tokens: 2, cache_creation: { ephemeral_5m_input_tokens: 0 }, service_tier: 'x' },
  },
}
