import type { ServerTool } from './request.ts'

/** The schema dialects that vendors understand; see schema/project.ts. */
export type SchemaDialect = 'gemini-json' | 'gemini' | 'openai' | 'openai-strict' | 'anthropic' | 'grammar'

/**
 * Facts about an endpoint and the family of models behind it, as named flags. A wire gives defaults; a vendor's row and
 * a model's family change them. Each flag is read in one place, and the T-numbers say which failure taught it.
 */
export interface Profile {
  /** Who can read native data back: the endpoint and the model family. Data of another signer is never sent (T120). */
  readonly signer: string
  /** `text` describes the tools in the prompt and reads calls from the text, for models that have no native calls. */
  readonly tools: 'native' | 'text'
  readonly dialect: SchemaDialect
  /** The form of call ids: legal as is, exactly nine letters or digits (T95), or `functions.name:0` (T96). */
  readonly ids: 'any' | 'nine' | 'functions'
  /** Does the model look at pictures? If not, media become a sentence (T100). */
  readonly media: boolean
  /** Body parameters that this endpoint refuses by name; they are left out (T78, T126, T150, T154, T155). */
  readonly refuses: readonly string[]
  /** How the history's own reasoning goes back: as it came, or not at all (T74, T78). */
  readonly replay: 'own' | 'never'
  /** Every assistant message must carry this reasoning field, be it empty (T75). */
  readonly needsReasoning?: 'reasoning_content' | 'reasoning'
  /** What stands for the content of an assistant message that only calls (T86). */
  readonly emptyContent: 'null' | 'empty' | 'omit'
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  readonly systemRole: 'system' | 'developer'
  /** The template wants user and assistant to alternate strictly (T93). */
  readonly alternate: boolean
  /** Put a short assistant message between a tool message and a user message (T94). */
  readonly bridge: boolean
  /** Name the tool in the result too (T99). */
  readonly resultName: boolean
  /** May the stream be asked for its usage (`stream_options`)? */
  readonly streamUsage: boolean
  /** How the prompt cache is asked for: by itself, a key, marks on blocks, or one mark for the whole request. */
  readonly cache: 'none' | 'key' | 'marks' | 'auto'
  /** Arguments come with HTML entities in them (T42). */
  readonly entities: boolean
  /** The text carries `<think>…</think>`; split it off (T71). */
  readonly think: boolean
  /** Gemini: calls must carry a signature; foreign ones get the documented sentinel (T117, T120). */
  readonly signatures: 'required' | 'optional' | 'never'
  /** Gemini: media of a result go inside `functionResponse.parts` (Gemini 3 on), or beside it. */
  readonly nestedMedia: boolean
  /** How thinking is asked for: not at all, a token budget, a level, or adaptive with an effort. */
  readonly thinking: 'none' | 'budget' | 'level' | 'adaptive'
  /** Constrain calls to the declared schemas without forcing one: Gemini's VALIDATED mode (T130), `strict` tools (T150). */
  readonly constrain: boolean
  /** Ask for arguments as they are written, unvalidated; our own close is strict anyway (T138). */
  readonly eagerArguments: boolean
  /** Responses: ask for encrypted reasoning, and keep nothing on the server (T84). */
  readonly encryptedReasoning: boolean
  /** What the vendor can look up by itself, beside the answer. */
  readonly serverTools?: readonly ServerTool[]
}
