import { WIRE_ENDPOINTS } from '../wire/endpoint.ts'
import type { ProviderDefinition } from './provider-definition.ts'

/** A key is sent as the wire says, unless the row says otherwise. */
type ProviderRow = Omit<ProviderDefinition, 'auth'> & Partial<Pick<ProviderDefinition, 'auth'>>

/** Not `localhost`, which may mean ::1, where these servers do not listen. */
const LOOPBACK_URL = 'http://127.0.0.1'

const GEMINI_KEY_VARIABLES = ['GEMINI_API_KEY', 'GOOGLE_API_KEY']

/** Chat endpoints that can be told to answer with JSON, but not with JSON of a given schema. */
const JSON_MODE_CHAT = { maxTokensField: 'max_tokens', cache: 'none', outputFormat: 'object' } as const

/**
 * The providers, in the order in which keys are looked for when no model is named: makers of models, resellers, hosts
 * of open models. The default model has a known price if any model of the provider has one, so that a cost limit works
 * without naming a model.
 */
const ROWS: readonly ProviderRow[] = [
  {
    id: 'gemini',
    labels: { catalog: 'google', otel: 'gcp.gemini', keyPrefix: 'AIza' },
    wire: 'gemini',
    url: 'https://generativelanguage.googleapis.com',
    urls: ['GOOGLE_GEMINI_BASE_URL'],
    keys: GEMINI_KEY_VARIABLES,
    model: 'gemini-3.8-flash',
  },
  {
    id: 'anthropic',
    labels: { keyPrefix: 'sk-ant-' },
    wire: 'anthropic',
    url: 'https://api.anthropic.com',
    urls: ['ANTHROPIC_BASE_URL'],
    keys: ['ANTHROPIC_API_KEY'],
    tokens: ['ANTHROPIC_AUTH_TOKEN'],
    model: 'claude-sonnet-5',
  },
  {
    id: 'openai',
    wire: 'openai-responses',
    url: 'https://api.openai.com/v1',
    urls: ['OPENAI_BASE_URL'],
    keys: ['OPENAI_API_KEY'],
    model: 'gpt-6-sol',
  },
  {
    id: 'openrouter',
    labels: { keyPrefix: 'sk-or-' },
    wire: 'openai-chat',
    url: 'https://openrouter.ai/api/v1',
    keys: ['OPENROUTER_API_KEY'],
    model: 'openrouter/auto',
    headers: { 'x-title': 'Dragoman' },
    check: '/key',
    extra: { provider: { require_parameters: true } }, // Else a host may answer that ignores the tools (T156).
    profile: { maxTokensField: 'max_tokens' },
  },
  {
    id: 'kilocode',
    wire: 'openai-chat',
    url: 'https://api.kilo.ai/api/gateway',
    keys: ['KILOCODE_API_KEY', 'KILO_API_KEY'],
    model: 'kilo/auto',
    profile: { maxTokensField: 'max_tokens' },
  },
  {
    id: 'deepseek',
    wire: 'openai-chat',
    url: 'https://api.deepseek.com',
    keys: ['DEEPSEEK_API_KEY'],
    model: 'deepseek-v4-pro',
    // Every assistant message of a reasoning model must have its reasoning, even if it is empty (T74, T75).
    profile: { ...JSON_MODE_CHAT, needsReasoning: 'reasoning_content' },
  },
  {
    id: 'xai',
    labels: { catalog: 'x-ai', otel: 'x_ai', keyPrefix: 'xai-' },
    wire: 'openai-chat',
    url: 'https://api.x.ai/v1',
    keys: ['XAI_API_KEY'],
    model: 'grok-latest',
    profile: { cache: 'none' },
  },
  {
    id: 'mistral',
    labels: { otel: 'mistral_ai' },
    wire: 'openai-chat',
    url: 'https://api.mistral.ai/v1',
    keys: ['MISTRAL_API_KEY'],
    model: 'mistral-medium-latest',
    // It refuses unknown keys, in the body and in messages (T78, T155).
    profile: { replay: 'never', maxTokensField: 'max_tokens', streamUsage: false, thinking: 'none', ids: 'nine' },
  },
  {
    id: 'moonshot',
    labels: { catalog: 'moonshotai', otel: 'moonshot_ai' },
    wire: 'openai-chat',
    url: 'https://api.moonshot.ai/v1',
    keys: ['MOONSHOT_API_KEY', 'KIMI_API_KEY'],
    model: 'kimi-k2.6',
    // Reasoning must be sent back (T74, T75), empty content must not (T86), and the temperature is fixed (T155).
    profile: { needsReasoning: 'reasoning_content', emptyContent: 'omit', refuses: ['temperature', 'top_p'] },
  },
  {
    id: 'zai',
    wire: 'openai-chat',
    url: 'https://api.z.ai/api/paas/v4',
    keys: ['ZAI_API_KEY', 'Z_AI_API_KEY'],
    model: 'glm-5.3',
    profile: { ...JSON_MODE_CHAT, thinking: 'none', refuses: ['parallel_tool_calls'] },
  },
  {
    id: 'minimax',
    wire: 'anthropic',
    url: 'https://api.minimax.io/anthropic',
    keys: ['MINIMAX_API_KEY'],
    model: 'MiniMax-M2.7',
    // It does not check signatures (T81), and knows cache marks on blocks only.
    profile: { signatures: 'optional', cache: 'marks', eagerArguments: false, outputFormat: 'none' },
  },
  {
    id: 'dashscope',
    wire: 'openai-chat',
    url: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    keys: ['DASHSCOPE_API_KEY'],
    model: 'qwen3-coder-plus',
    profile: { ...JSON_MODE_CHAT, thinking: 'none', refuses: ['parallel_tool_calls'] },
  },
  {
    id: 'groq',
    labels: { keyPrefix: 'gsk_' },
    wire: 'openai-chat',
    url: 'https://api.groq.com/openai/v1',
    keys: ['GROQ_API_KEY'],
    model: 'openai/gpt-oss-120b',
    profile: { replay: 'never', cache: 'none' }, // It refuses message keys that it does not know (T78).
  },
  {
    id: 'cerebras',
    wire: 'openai-chat',
    url: 'https://api.cerebras.ai/v1',
    keys: ['CEREBRAS_API_KEY'],
    model: 'gpt-oss-120b',
    profile: { cache: 'none' },
  },
  {
    id: 'fireworks',
    wire: 'openai-chat',
    url: 'https://api.fireworks.ai/inference/v1',
    keys: ['FIREWORKS_API_KEY'],
    model: 'accounts/fireworks/models/gpt-oss-120b',
    profile: { maxTokensField: 'max_tokens', cache: 'none' },
  },
  {
    id: 'together',
    wire: 'openai-chat',
    url: 'https://api.together.xyz/v1',
    keys: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'],
    model: 'openai/gpt-oss-120b',
    profile: { maxTokensField: 'max_tokens', cache: 'none' },
  },
  {
    id: 'deepinfra',
    wire: 'openai-chat',
    url: 'https://api.deepinfra.com/v1/openai',
    keys: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'],
    model: 'openai/gpt-oss-120b',
    profile: { maxTokensField: 'max_tokens', cache: 'none' },
  },
  {
    id: 'featherless',
    wire: 'openai-chat',
    url: 'https://api.featherless.ai/v1',
    keys: ['FEATHERLESS_API_KEY'],
    model: 'openai/gpt-oss-120b',
    profile: { maxTokensField: 'max_tokens', cache: 'none' },
  },

  // Other endpoints of the vendors above; never chosen by default.
  {
    id: 'vertex',
    labels: { catalog: 'google', otel: 'gcp.vertex_ai' },
    wire: 'gemini',
    url: 'https://{location}-aiplatform.googleapis.com',
    urls: ['GOOGLE_VERTEX_BASE_URL'],
    path: 'vertex',
    keys: ['GOOGLE_API_KEY'],
    tokens: ['GOOGLE_CLOUD_ACCESS_TOKEN'],
    signIn: 'google',
    model: 'gemini-3.8-flash',
  },
  {
    id: 'gemini-interactions',
    labels: { catalog: 'google', otel: 'gcp.gemini' },
    wire: 'interactions',
    url: 'https://generativelanguage.googleapis.com',
    urls: ['GOOGLE_GEMINI_BASE_URL'],
    keys: GEMINI_KEY_VARIABLES,
    model: 'gemini-3.8-flash',
  },
  {
    id: 'vertex-interactions',
    labels: { catalog: 'google', otel: 'gcp.vertex_ai' },
    wire: 'interactions',
    url: 'https://{location}-aiplatform.googleapis.com',
    urls: ['GOOGLE_VERTEX_BASE_URL'],
    path: 'vertex',
    keys: ['GOOGLE_API_KEY'],
    tokens: ['GOOGLE_CLOUD_ACCESS_TOKEN'],
    signIn: 'google',
    model: 'gemini-3.8-flash',
  },
  {
    id: 'code-assist',
    labels: { catalog: 'google', otel: 'gcp.gemini' },
    wire: 'code-assist',
    url: 'https://cloudcode-pa.googleapis.com',
    urls: ['CODE_ASSIST_ENDPOINT'],
    keys: ['GOOGLE_CLOUD_ACCESS_TOKEN'],
    signIn: 'google',
    model: 'gemini-2.5-pro',
  },
  {
    id: 'gemini-openai',
    labels: { catalog: 'google', otel: 'gcp.gemini' },
    wire: 'openai-chat',
    url: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keys: GEMINI_KEY_VARIABLES,
    model: 'gemini-3.8-flash',
    profile: { maxTokensField: 'max_tokens', cache: 'none' },
  },
  {
    id: 'openai-chat',
    labels: { catalog: 'openai', otel: 'openai' },
    wire: 'openai-chat',
    url: 'https://api.openai.com/v1',
    urls: ['OPENAI_BASE_URL'],
    keys: ['OPENAI_API_KEY'],
    model: 'gpt-5.4',
    profile: { outputWithTools: true },
  },

  // Local servers compile tools to grammars (T149), and most know only `max_tokens` (T155).
  {
    id: 'lmstudio',
    wire: 'openai-chat',
    url: `${LOOPBACK_URL}:1234/v1`,
    keys: ['LM_API_TOKEN', 'LMSTUDIO_API_KEY'],
    port: 1234,
    profile: { dialect: 'grammar', maxTokensField: 'max_tokens', cache: 'none', refuses: ['parallel_tool_calls'] },
  },
  {
    id: 'ollama',
    wire: 'openai-chat',
    url: `${LOOPBACK_URL}:11434/v1`,
    keys: ['OLLAMA_API_KEY'],
    port: 11434,
    profile: { dialect: 'grammar', maxTokensField: 'max_tokens', cache: 'none' },
  },
  {
    id: 'llamacpp',
    wire: 'openai-chat',
    url: `${LOOPBACK_URL}:8080/v1`,
    keys: ['LLAMA_API_KEY'],
    port: 8080,
    profile: { dialect: 'grammar', maxTokensField: 'max_tokens', cache: 'none' },
  },
  {
    id: 'vllm',
    wire: 'openai-chat',
    url: `${LOOPBACK_URL}:8000/v1`,
    keys: ['VLLM_API_KEY'],
    port: 8000,
    profile: { maxTokensField: 'max_tokens', cache: 'none' },
  },
]

export const providers: readonly ProviderDefinition[] = ROWS.map((row) => ({
  auth: WIRE_ENDPOINTS[row.wire].auth,
  ...row,
}))
