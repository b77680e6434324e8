import type { ServerTool } from './request.ts'

/** The schema dialects of vendors; see schema/dialect. */
export type SchemaDialect = 'gemini-json' | 'gemini' | 'openai' | 'openai-strict' | 'anthropic' | 'grammar'

/**
 * How an endpoint and its models differ from the standard, as flags. A wire has defaults; the provider and the model
 * family override them. The T-numbers are the failures that it avoids.
 */
export interface Profile {
  /** Who can read native data: the endpoint and the model family. Data of another signer is never sent (T120). */
  readonly signer: string
  /** `text`: for models without native calls, the tools are described in the prompt and calls are read from the text. */
  readonly tools: 'native' | 'text'
  readonly dialect: SchemaDialect
  /** The form of call ids: any, exactly nine letters or digits (T95), or `functions.name:0` (T96). */
  readonly ids: 'any' | 'nine' | 'functions'
  /** Does the model accept media? If not, a sentence is sent instead (T100). */
  readonly media: boolean
  /** Body parameters that this endpoint rejects; they are left out (T78, T126, T150, T154, T155). */
  readonly refuses: readonly string[]
  /** Is the model's earlier reasoning sent back (T74, T78)? */
  readonly replay: 'own' | 'never'
  /** Every assistant message must have this reasoning field, even if it is empty (T75). */
  readonly needsReasoning?: 'reasoning_content' | 'reasoning'
  /** The content of an assistant message that consists of calls only (T86). */
  readonly emptyContent: 'null' | 'empty' | 'omit'
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  readonly systemRole: 'system' | 'developer'
  /** The template requires user and assistant messages to alternate (T93). */
  readonly alternate: boolean
  /** A short assistant message is needed between a tool message and a user message (T94). */
  readonly bridge: boolean
  /** The result must repeat the tool's name (T99). */
  readonly resultName: boolean
  /** Does the endpoint accept `stream_options`, which asks for the usage of a stream? */
  readonly streamUsage: boolean
  /** How the prompt cache is requested: not at all, by a key, by marks on blocks, or by one mark for the request. */
  readonly cache: 'none' | 'key' | 'marks' | 'auto'
  /** Arguments contain HTML entities (T42). */
  readonly entities: boolean
  /** The text contains `<think>…</think>`, which is reasoning (T71). */
  readonly think: boolean
  /** Gemini: calls must have a signature; calls of other models get the documented sentinel (T117, T120). */
  readonly signatures: 'required' | 'optional' | 'never'
  /** Gemini: media of a result are sent inside `functionResponse.parts` (since Gemini 3), or beside it. */
  readonly nestedMedia: boolean
  /** How thinking is requested: not at all, by a token budget, by a level, or adaptive with an effort. */
  readonly thinking: 'none' | 'budget' | 'level' | 'adaptive'
  /** Constrain calls to the declared schemas without forcing one: Gemini's VALIDATED mode (T130), `strict` tools (T150). */
  readonly constrain: boolean
  /** Ask for arguments while they are written, unvalidated; they are checked here anyway (T138). */
  readonly eagerArguments: boolean
  /** Responses: ask for encrypted reasoning, because nothing is stored on the server (T84). */
  readonly encryptedReasoning: boolean
  /** What the endpoint has as a response format: JSON of a given schema, any JSON object, or nothing. */
  readonly outputFormat: 'schema' | 'object' | 'none'
  /** Can the model still make calls if a response format is set? */
  readonly outputWithTools: boolean
  /** OpenAI: the parameter for the lifetime of the prompt cache. */
  readonly cacheTtlField: 'prompt_cache_retention' | 'prompt_cache_options'
  /** Can tools be added inside the history, and be deferred until they are found? If not, they are declared with the others. */
  readonly lateTools: 'native' | 'none'
  /** May system messages stand inside the history? Trusted notes are then written as such (T177). */
  readonly systemNotes: boolean
  /** May tools take free text, with a grammar? If not, they have one string argument (T30). */
  readonly freeTextTools: boolean
  /** Does the endpoint say why the prompt cache missed? */
  readonly cacheDiagnosis: boolean
  /** The tools that the vendor runs by itself. */
  readonly serverTools?: readonly ServerTool[]
}
