import type { JsonObject } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'
import { CHAT_BODIES } from './chat-bodies.ts'
import { RESPONSES_BODIES } from './responses-bodies.ts'
import type { UnknownMemberRules } from './unknown-members.ts'

const SCHEMA = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }

/** A request as Claude Code sends it, with everything that the API has besides. */
export const MESSAGES_BODY: JsonObject = {
  model: 'claude-opus-5-5',
  max_tokens: 32000,
  stream: true,
  thinking: { type: 'adaptive', display: 'omitted' },
  output_config: { effort: 'high', format: { type: 'json_schema', schema: SCHEMA }, task_budget: { type: 'tokens' } },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  metadata: { user_id: 'u' },
  tool_choice: { type: 'auto' },
  system: [
    { type: 'text', text: 'first' },
    { type: 'text', text: 'second', cache_control: { type: 'ephemeral', ttl: '1h' } },
  ],
  tools: [
    { name: 'read', description: 'Reads.', input_schema: SCHEMA, input_examples: [{ path: 'a' }], strict: true },
    { name: 'late', description: 'Late.', input_schema: SCHEMA, defer_loading: true },
    { type: 'bash_20250124', name: 'bash' },
    { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
  ],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look.' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' }, title: 'T' },
        { type: 'search_result', source: 'https://a.example', title: 'A', content: [{ type: 'text', text: 'found' }] },
      ],
    },
    { role: 'system', content: [{ type: 'text', text: 'note' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'text', text: 'I read.', citations: [{ type: 'char_location', cited_text: 'w' }] },
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [{ type: 'web_search_result', url: 'u' }],
        },
        { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a' }, caller: { type: 'direct' } },
        { type: 'tool_use', id: 'toolu_2', name: 'search', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'content of a' }] },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: [{ type: 'tool_reference', tool_name: 'late' }] },
      ],
    },
    {
      role: 'system',
      content: [
        { type: 'tool_addition', tool: { type: 'tool_definition', definition: { name: 'new', input_schema: SCHEMA } } },
        { type: 'tool_removal', tool: { type: 'tool_reference', name: 'read' } },
        { type: 'text', text: 'later note', cache_control: { type: 'ephemeral' } },
      ],
    },
  ],
}

/** A request of `generateContent` with everything that the API has. */
export const CONTENTS_BODY: JsonObject = {
  systemInstruction: { role: 'user', parts: [{ text: 'Be brief.' }] },
  tools: [
    { functionDeclarations: [{ name: 'read', description: 'Reads.', parametersJsonSchema: SCHEMA }] },
    { googleSearch: {} },
    { codeExecution: {}, googleMaps: { enableWidget: true } },
    { fileSearch: { fileSearchStoreNames: ['s'] } },
  ],
  toolConfig: {
    functionCallingConfig: { mode: 'AUTO' },
    retrievalConfig: { languageCode: 'de' },
    includeServerSideToolInvocations: true,
  },
  generationConfig: { temperature: 0, topK: 3, thinkingConfig: { thinkingBudget: -1, includeThoughts: true } },
  safetySettings: [{ category: 'c', threshold: 't' }],
  cachedContent: 'cachedContents/1',
  labels: { team: 'x' },
  serviceTier: 'flex',
  contents: [
    {
      role: 'user',
      parts: [
        { text: 'Look.' },
        { inlineData: { mimeType: 'image/png', data: 'iVBORw0=' }, mediaResolution: { level: 'LOW' } },
        { fileData: { mimeType: 'video/mp4', fileUri: 'gs://v' }, videoMetadata: { fps: 1 } },
      ],
    },
    {
      role: 'model',
      parts: [
        { text: 'thought', thought: true, thoughtSignature: 'sig' },
        { text: 'I read.' },
        { toolCall: { toolType: 'GOOGLE_MAPS', id: 't1' } },
        { toolResponse: { toolType: 'GOOGLE_MAPS', id: 't1', response: {} } },
        { executableCode: { language: 'PYTHON', code: '1' } },
        { functionCall: { id: 'c1', name: 'read', args: { path: 'a' } }, thoughtSignature: 'sig2' },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'c1',
            name: 'read',
            response: { output: 'text' },
            parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0=' } }],
          },
        },
      ],
    },
  ],
}

/** A request of the Interactions API. */
export const STEPS_BODY: JsonObject = {
  model: 'gemini-3.8-flash',
  system_instruction: 'Be brief.',
  tools: [
    { type: 'function', name: 'read', description: 'Reads.', parameters: SCHEMA },
    { type: 'google_search' },
    { type: 'code_execution' },
    { type: 'mcp_server', name: 'm', url: 'https://a.example', headers: { a: 'b' } },
  ],
  response_format: { type: 'text', mime_type: 'application/json', schema: SCHEMA },
  generation_config: {
    temperature: 0,
    thinking_level: 'low',
    thinking_summaries: 'auto',
    tool_choice: { allowed_tools: { mode: 'any', tools: ['read'] } },
    speech_config: [{ voice: 'v' }],
  },
  store: false,
  stream: true,
  background: false,
  service_tier: 'flex',
  input: [
    {
      type: 'user_input',
      content: [
        { type: 'text', text: 'Look.' },
        { type: 'image', mime_type: 'image/png', data: 'iVBORw0=', resolution: 'low' },
        { type: 'video', mime_type: 'video/mp4', uri: 'gs://v' },
      ],
    },
    { type: 'thought', signature: 'sig', summary: [{ type: 'text', text: 'Hm.' }] },
    { type: 'thought', summary: [{ type: 'text', text: 'Unsigned.' }] },
    { type: 'google_search_call', id: 's1', arguments: { queries: ['x'] } },
    { type: 'google_search_result', call_id: 's1', result: [{ search_suggestions: 'x' }] },
    {
      type: 'model_output',
      content: [{ type: 'text', text: 'I read.', annotations: [{ type: 'url_citation', url: 'https://a.example' }] }],
    },
    { type: 'function_call', id: 'c1', name: 'read', arguments: { path: 'a' }, signature: 'sig2' },
    { type: 'function_call', id: 'c2', name: 'read', arguments: { path: 'b' } },
    { type: 'function_result', call_id: 'c1', name: 'read', result: [{ type: 'text', text: 'content of a' }] },
    { type: 'function_result', call_id: 'c2', name: 'read', result: { any: 'thing' }, is_error: true },
    { type: 'user_input', content: [{ type: 'text', text: 'And?' }] },
  ],
}

/** Requests as clients write them, made for tests. */
export const REQUEST_BODIES: Readonly<Record<WireId, readonly JsonObject[]>> = {
  gemini: [CONTENTS_BODY],
  'code-assist': [
    { model: 'gemini-3', project: 'p', user_prompt_id: 'u', request: { ...CONTENTS_BODY, session_id: 's' } },
  ],
  interactions: [STEPS_BODY, { model: 'm', previous_interaction_id: 'v1_7', input: 'And?' }],
  'openai-chat': Object.values(CHAT_BODIES),
  'openai-responses': Object.values(RESPONSES_BODIES),
  anthropic: [
    MESSAGES_BODY,
    {
      model: 'm',
      max_tokens: 10,
      tools: [{ name: 'late', description: 'Late.', input_schema: SCHEMA, defer_loading: true }],
      messages: [
        { role: 'user', content: 'Hi.' },
        { role: 'system', content: [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'late' } }] },
      ],
    },
  ],
}

const OPAQUE =
  'input_schema schema input args response metadata parametersJsonSchema labels input_examples parameters arguments any output_schema'.split(
    ' ',
  )
const OPENAI_OPAQUE = ['parameters', 'schema', 'output_schema', 'metadata', 'arguments']
const VARIANTS = 'tool_choice thinking context_management functionCallingConfig toolConfig response_format'.split(' ')

/** What of these bodies is not the API's, and what may have another form. */
export const BODY_RULES: Readonly<Record<WireId, UnknownMemberRules>> = {
  gemini: { opaque: OPAQUE, variants: VARIANTS },
  'code-assist': { opaque: OPAQUE, variants: VARIANTS },
  // On this wire, `input` is the history.
  interactions: { opaque: OPAQUE.filter((name) => name !== 'input'), variants: VARIANTS },
  'openai-chat': { opaque: OPENAI_OPAQUE, variants: ['tool_choice', 'response_format', 'format'] },
  'openai-responses': { opaque: OPENAI_OPAQUE, variants: ['tool_choice', 'format'] },
  anthropic: { opaque: OPAQUE, variants: VARIANTS },
}
