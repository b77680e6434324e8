// The shapes of Gemini's API, as far as the helpers need them. Values of the SDK's own types fit, of any version, and what
// the helpers return fits them; so no SDK has to be installed.

/** Open, because the SDK declares an enum here, and no text of ours is assignable to that. */
type OpenValue = ReturnType<typeof JSON.parse>

/** A part of a content. */
export interface GeminiPart {
  text?: string
  thought?: boolean
  thoughtSignature?: string
  inlineData?: GeminiBlob
  fileData?: GeminiFile
  functionCall?: GeminiFunctionCall
  functionResponse?: GeminiFunctionResponse
  /** Code that the vendor runs. */
  executableCode?: OpenValue
  codeExecutionResult?: OpenValue
}

/** Media in base64. */
export interface GeminiBlob {
  mimeType?: string
  data?: string
}

/** Media at an address. */
export interface GeminiFile {
  mimeType?: string
  fileUri?: string
}

/** A call of the model. With `willContinue` or `partialArgs` it is only a fragment of one. */
export interface GeminiFunctionCall {
  id?: string
  name?: string
  args?: Record<string, unknown>
  willContinue?: boolean
  partialArgs?: OpenValue[]
}

/** The result of a call; since Gemini 3 with media in it. */
export interface GeminiFunctionResponse {
  id?: string
  name?: string
  response?: Record<string, unknown>
  parts?: { inlineData?: GeminiBlob; fileData?: GeminiFile }[]
}

/** A message: of the user, with the results of calls too, or of the model. */
export interface GeminiContent {
  role?: string
  parts?: GeminiPart[]
}

/** What a tool returns: text, a part, or a list of both. */
export type GeminiPartList<Part = GeminiPart> = string | Part | readonly (Part | string)[]

/** A function as it is declared to the model. */
export interface GeminiFunctionDeclaration {
  name: string
  description: string
  /** JSON Schema. */
  parametersJsonSchema?: unknown
  /** Gemini's own dialect: a `Schema` of the SDK. */
  parameters?: OpenValue
}

/** The functions of a request. */
export interface GeminiTool {
  functionDeclarations?: GeminiFunctionDeclaration[]
}

/** Whether the model may, must or must not make calls, and which ones. */
export type GeminiCallingMode = 'AUTO' | 'ANY' | 'NONE' | 'VALIDATED' | 'MODE_UNSPECIFIED'

/** The calling mode of a request. */
export interface GeminiToolConfig {
  functionCallingConfig: {
    /** A `GeminiCallingMode`. */
    mode?: OpenValue
    allowedFunctionNames?: string[]
  }
}

/** A chunk of a stream, or a whole response; Code Assist has it in an envelope. */
export interface GeminiResponse {
  readonly candidates?: readonly object[] | undefined
  readonly response?: object | undefined
}
