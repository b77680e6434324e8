import type { Json, JsonObject } from './json.ts'

/**
 * Fields of a request body that only one API has. They are merged into the body last, objects field by field. The model,
 * the history, the system prompt, the tools and `stream` cannot be overwritten.
 */
export interface ProviderOptions {
  /** Also for Code Assist. */
  readonly gemini?: GeminiOptions
  readonly interactions?: InteractionsOptions
  readonly 'openai-chat'?: OpenAiChatOptions
  readonly 'openai-responses'?: OpenAiResponsesOptions
  readonly anthropic?: AnthropicOptions
}

/** Any other field of a body: vendors add fields more often than this list changes. */
export interface OtherFields {
  readonly [field: string]: Json | undefined | OtherFields
}

/** Fields of Gemini's `generateContent`. */
export interface GeminiOptions extends OtherFields {
  readonly generationConfig?: GeminiGenerationOptions
  readonly safetySettings?: { category: string; threshold: string }[]
  /** The name of a cache that was created before. */
  readonly cachedContent?: string
  /** Vertex: labels for the bill. */
  readonly labels?: JsonObject
  readonly serviceTier?: string
}

/** Fields of Gemini's `generationConfig`. */
export interface GeminiGenerationOptions extends OtherFields {
  readonly topK?: number
  readonly seed?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly responseLogprobs?: boolean
  readonly logprobs?: number
  readonly mediaResolution?: 'MEDIA_RESOLUTION_LOW' | 'MEDIA_RESOLUTION_MEDIUM' | 'MEDIA_RESOLUTION_HIGH'
  readonly responseModalities?: string[]
}

/** Fields of Gemini's Interactions API. */
export interface InteractionsOptions extends OtherFields {
  readonly generation_config?: { seed?: number } & OtherFields
  readonly safety_settings?: { type: string; threshold: string }[]
  readonly service_tier?: 'flex' | 'standard' | 'priority' | 'deferred'
  /** Labels for the bill. */
  readonly labels?: JsonObject
  /** The name of a cache that was created before. */
  readonly cached_content?: string
}

/** Fields of OpenAI's chat completions. */
export interface OpenAiChatOptions extends OtherFields {
  readonly service_tier?: 'auto' | 'default' | 'flex' | 'scale' | 'priority' | 'fast'
  readonly seed?: number
  readonly frequency_penalty?: number
  readonly presence_penalty?: number
  readonly logit_bias?: JsonObject
  readonly logprobs?: boolean
  readonly top_logprobs?: number
  readonly metadata?: JsonObject
  readonly verbosity?: 'low' | 'medium' | 'high'
  readonly safety_identifier?: string
  readonly prediction?: JsonObject
  readonly web_search_options?: JsonObject
}

/** Fields of OpenAI's Responses API. */
export interface OpenAiResponsesOptions extends OtherFields {
  readonly service_tier?: 'auto' | 'default' | 'flex' | 'scale' | 'priority' | 'fast'
  readonly text?: { verbosity?: 'low' | 'medium' | 'high' } & OtherFields
  readonly truncation?: 'auto' | 'disabled'
  readonly max_tool_calls?: number
  readonly metadata?: JsonObject
  readonly safety_identifier?: string
  readonly top_logprobs?: number
  readonly include?: string[]
}

/** Fields of Anthropic's Messages API. */
export interface AnthropicOptions extends OtherFields {
  readonly service_tier?: 'auto' | 'standard_only'
  readonly speed?: 'standard' | 'fast'
  readonly metadata?: { user_id?: string }
  readonly inference_geo?: string
  readonly container?: string | JsonObject
  readonly top_k?: number
}
