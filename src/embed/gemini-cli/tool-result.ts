import type { GeminiPart, GeminiPartList } from '../vendor-types/gemini.ts'

/** What a tool of Gemini CLI returns. */
export interface ToolResult<Part = GeminiPart> {
  /** For the model; see `convertToFunctionResponse`. */
  readonly llmContent: GeminiPartList<Part>
  /** For the user: text, or a change of a file. */
  readonly returnDisplay: string | FileDiff
  /** The tool failed. */
  readonly error?: { readonly message: string; readonly type?: string }
}

/** A change of a file, for the user. */
export interface FileDiff {
  /** A unified diff. */
  readonly fileDiff: string
  readonly fileName: string
  readonly originalContent: string | null
  readonly newContent: string
  readonly diffStat?: DiffStat
}

/** The lines that the model and the user added and removed. */
export interface DiffStat {
  readonly ai_added_lines: number
  readonly ai_removed_lines: number
  readonly user_added_lines: number
  readonly user_removed_lines: number
}
