import type { JsonObject } from '../../src/model/json.ts'

const PATH = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }

/** Bodies of chat completions in the forms that clients send, by what is special about them. */
export const CHAT_BODIES = {
  'calls of both kinds': {
    model: 'm',
    stream: true,
    stream_options: { include_usage: true },
    tools: [
      { type: 'function', function: { name: 'read', description: 'Reads.', parameters: PATH, strict: true } },
      {
        type: 'custom',
        custom: {
          name: 'dial',
          description: 'Dials.',
          format: { type: 'grammar', grammar: { syntax: 'regex', definition: '[0-9]+' } },
        },
      },
      { type: 'builtin_function', function: { name: '$web_search' } },
      { type: 'web_search', max_results: 3 },
    ],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'read' } }] },
    },
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }], name: 'ann' },
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'Yes.' }],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } },
          { id: 'c2', type: 'custom', custom: { name: 'dial', input: '123' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'A' }] },
      { role: 'tool', tool_call_id: 'c2', content: 'ok' },
      { role: 'system', content: 'The user is away.' },
      { role: 'assistant', content: null, function_call: { name: 'read', arguments: '{"path":"b"}' } },
      { role: 'function', name: 'read', content: 'B' },
    ],
    stop: 'END',
    logit_bias: { '1': 2 },
  },
  'media, reasoning and a format': {
    model: 'm',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'high' } },
          { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          { type: 'file', file: { file_id: 'file_1' } },
        ],
      },
      {
        role: 'assistant',
        content: 'Seen.',
        reasoning: 'Hm.',
        reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: 's', index: 0 }],
      },
      { role: 'assistant', content: null, refusal: 'No.' },
      { role: 'user', content: 'Why?' },
    ],
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: PATH, strict: true, description: 'x' } },
    prompt_cache_options: { mode: 'explicit', ttl: '12h' },
    web_search_options: { search_context_size: 'low' },
  },
} satisfies Record<string, JsonObject>
