/**
 * The names under which spans carry what they know: those of OpenTelemetry's conventions for generative AI where there
 * is one, and our own for the rest.
 */
export const SPAN_ATTRIBUTE = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  conversation: 'gen_ai.conversation.id',
  agent: 'gen_ai.agent.name',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.usage.cache_creation.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  tool: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCall: 'gen_ai.tool.call.id',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  errorType: 'error.type',
  httpStatus: 'http.response.status_code',

  prompt: 'dragoman.prompt.id',
  promptLength: 'dragoman.prompt.length',
  requestBytes: 'dragoman.request.bytes',
  attempt: 'dragoman.request.attempt',
  summary: 'dragoman.request.summary',
  toolOrigin: 'dragoman.tool.origin',
  duration: 'dragoman.tool.duration_ms',
  success: 'dragoman.tool.success',
  decision: 'dragoman.tool.decision',
  error: 'dragoman.tool.error',
  argumentsLength: 'dragoman.tool.arguments.length',
  resultLength: 'dragoman.tool.result.length',
  facts: 'dragoman.tool.',
  turns: 'dragoman.run.turns',
  cost: 'dragoman.run.cost_usd',
  reason: 'dragoman.run.reason',
} as const

/** The names that the conventions give to vendors; ours stand for the others. */
export const OTEL_PROVIDER_NAMES: Readonly<Record<string, string>> = {
  gemini: 'gcp.gemini',
  'gemini-openai': 'gcp.gemini',
  'code-assist': 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  'openai-chat': 'openai',
  mistral: 'mistral_ai',
  moonshot: 'moonshot_ai',
  xai: 'x_ai',
}
