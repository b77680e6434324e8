import type { JsonObject } from '../../src/model/json.ts'

const PATH = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }

const EXEC = {
  type: 'custom',
  name: 'exec',
  description: 'Runs code. '.repeat(1300),
  format: { type: 'grammar', syntax: 'lark', definition: 'start: /[a-z]+/' },
}

const DIGITS = {
  type: 'custom',
  name: 'dial',
  description: 'Dials a number.',
  format: { type: 'grammar', syntax: 'regex', definition: '[0-9]{3,8}' },
}

const LOOKUP = {
  type: 'function',
  name: 'lookup',
  description: 'Looks up a customer.',
  parameters: PATH,
  strict: false,
  defer_loading: true,
  allowed_callers: ['programmatic'],
  output_schema: { type: 'object' },
  async: true,
}

const CRM = { type: 'namespace', name: 'crm', description: 'Customers.', tools: [LOOKUP, DIGITS] }

const user = (text: string): JsonObject => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })

/** Bodies in the forms that clients of late 2026 send, by what is special about them. */
export const RESPONSES_BODIES = {
  'additional tools first': {
    model: 'gpt-6-sol',
    input: [
      {
        type: 'additional_tools',
        role: 'developer',
        tools: [
          { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: PATH },
          {
            type: 'namespace',
            name: 'functions',
            description: 'Functions.',
            tools: [EXEC, { ...LOOKUP, defer_loading: false }],
          },
          CRM,
        ],
      },
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
      user('Run it.'),
      { type: 'custom_tool_call', call_id: 'call_1', name: 'exec', namespace: 'functions', input: 'ls' },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: 'a.txt' },
      { type: 'function_call', call_id: 'call_2', name: 'lookup', namespace: 'functions', arguments: '{"path":"a"}' },
      { type: 'function_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'found' }] },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    reasoning: { effort: 'high', context: 'all_turns' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'key',
    text: { verbosity: 'low' },
  },
  'a search that the client runs': {
    model: 'gpt-6-sol',
    instructions: 'Be brief.',
    tools: [
      { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: PATH },
      { type: 'function', name: 'read', description: 'Reads.', parameters: PATH, strict: true },
      { type: 'web_search', search_context_size: 'low' },
    ],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'read' }] },
    input: [
      user('Who is it?'),
      {
        type: 'tool_search_call',
        call_id: 'call_1',
        execution: 'client',
        arguments: { path: 'crm' },
        status: 'completed',
      },
      { type: 'tool_search_output', call_id: 'call_1', execution: 'client', status: 'completed', tools: [CRM] },
      {
        type: 'function_call',
        call_id: 'call_2',
        name: 'lookup',
        namespace: 'crm',
        arguments: '{}',
        caller: { type: 'direct' },
      },
      { type: 'function_call_output', call_id: 'call_2', output: 'Ann', caller: { type: 'direct' } },
      {
        type: 'message',
        role: 'assistant',
        phase: 'final_answer',
        content: [{ type: 'output_text', text: 'Ann.', annotations: [] }],
      },
      user('And now?'),
    ],
    stream: true,
  },
  'a search that the server runs': {
    model: 'gpt-6-sol',
    tools: [{ type: 'tool_search' }, LOOKUP, CRM],
    input: [
      user('Who is it?'),
      {
        type: 'tool_search_call',
        call_id: null,
        execution: 'server',
        arguments: { paths: ['crm'] },
        status: 'completed',
        id: 'tsc_1',
      },
      {
        type: 'tool_search_output',
        call_id: null,
        execution: 'server',
        status: 'completed',
        tools: [CRM],
        id: 'tso_1',
      },
      { type: 'function_call', call_id: 'call_2', name: 'lookup', namespace: 'crm', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_2', output: 'Ann' },
    ],
  },
  'items of all kinds': {
    model: 'gpt-6-sol',
    tools: [DIGITS],
    tool_choice: { type: 'custom', name: 'dial' },
    input: [
      { type: 'compaction', encrypted_content: 'sealed', id: 'cmp_1' },
      { role: 'user', content: 'Hello' },
      { type: 'configuration_update', reasoning: { effort: 'low' } },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'See.', prompt_cache_breakpoint: { type: 'ephemeral' } },
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'high' },
          { type: 'input_file', file_id: 'file_1' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'sealed' },
      { type: 'program', id: 'prg_1', call_id: 'call_p', code: 'await tools.dial("123")', fingerprint: 'f' },
      {
        type: 'custom_tool_call',
        call_id: 'call_1',
        name: 'dial',
        input: '123',
        caller: { type: 'program', caller_id: 'call_p' },
      },
      {
        type: 'custom_tool_call_output',
        call_id: 'call_1',
        output: 'ok',
        caller: { type: 'program', caller_id: 'call_p' },
      },
      { type: 'program_output', id: 'pro_1', call_id: 'call_p', result: 'ok', status: 'completed' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
      {
        type: 'message',
        role: 'assistant',
        content: [
          {
            type: 'output_text',
            text: 'See it.',
            annotations: [
              { type: 'url_citation', url: 'https://example.com', title: 'x', start_index: 0, end_index: 3 },
            ],
          },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
      user('Go on.'),
    ],
    reasoning: { effort: 'medium', summary: 'detailed' },
    text: { format: { type: 'json_schema', name: 'answer', schema: PATH, strict: true, description: 'The answer.' } },
    prompt_cache_options: { mode: 'explicit', ttl: '12h', comparison_response_id: 'resp_0' },
    conversation: { id: 'conv_1' },
    previous_response_id: 'resp_1',
    include: ['reasoning.encrypted_content', 'web_search_call.results'],
    metadata: { a: 'b' },
  },
} satisfies Record<string, JsonObject>
