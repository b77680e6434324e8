import type { Host } from '../host/host.ts'
import type { JsonObject } from '../model/json.ts'
import type { ToolSpec } from '../model/request.ts'
import type { SandboxAccess, SandboxBlock } from '../model/security/sandbox-access.ts'
import type { MediaPart, ResultPart, TextPart } from '../model/turn.ts'
import type { Effect } from '../policy/effect.ts'

/** `content` is for the model, `display` for the user. */
export interface ToolOutput {
  readonly content: string | readonly (TextPart | MediaPart)[]
  readonly display?: ResultDisplay
  /** A structured answer, for models that take one. */
  readonly data?: ResultPart['data']
  readonly error?: { readonly message: string; readonly type?: string }
  /** The content without what differs each time, such as process numbers: repeated calls are detected by it. */
  readonly stable?: string
  /** Figures for the statistics: lines added and removed, and the like. */
  readonly facts?: JsonObject
  /** It failed, probably because the sandbox blocked the network or files. */
  readonly blocked?: SandboxBlock
  /** Messages for the user beside the result: a file of theirs was renamed, and the like. */
  readonly notices?: readonly string[]
}

export type ResultDisplay = string | FileDiff | MarkdownDisplay

export interface MarkdownDisplay {
  readonly title: string
  readonly markdown: string
}

export interface FileDiff {
  readonly fileDiff: string
  readonly fileName: string
  readonly originalContent: string | null
  readonly newContent: string
  readonly diffStat: DiffStat
}

/** How many lines the model changed, and how many the user changed in the model's proposal. */
export interface DiffStat {
  readonly ai_added_lines: number
  readonly ai_removed_lines: number
  readonly user_added_lines: number
  readonly user_removed_lines: number
}

/** What a tool gets beside its input. */
export interface ToolContext {
  readonly host: Host
  /** The folders that the agent works in; the first one is where it was started. */
  readonly folders: readonly string[]
  readonly signal: AbortSignal
  /** Reports progress; the user sees it at most once a second. */
  readonly progress: (text: string) => void
  /** The user changed the proposal before allowing it. */
  readonly modified?: boolean
  /** With `modified`: the arguments of the model, to tell its lines from the user's. */
  readonly proposed?: JsonObject
  /** What the user allowed this call to do outside the sandbox. */
  readonly sandboxAccess?: SandboxAccess
  /** The command was allowed only if git starts none of the programs that settings name. */
  readonly gitHelpers?: 'off'
  /** The command is proved to change nothing. */
  readonly isHarmless?: true
  /** Detects changes by others since the model last saw a file. */
  readonly seenFiles: SeenFiles
}

export interface SeenFiles {
  setHash(path: string, hash: string): void
  getHash(path: string): string | undefined
}

/** What the user is shown before a call runs. */
export type ApprovalDetails = { readonly title: string } & (
  | {
      readonly kind: 'edit'
      readonly fileName: string
      readonly filePath: string
      readonly fileDiff: string
      readonly originalContent: string | null
      readonly newContent: string
    }
  | {
      readonly kind: 'exec'
      readonly command: string
      readonly rootCommand: string
      readonly folder: string
      /** It needs the network, which the sandbox blocks; the user may allow it for this command. */
      readonly isOffline?: true
      /** What it changes that the sandbox hides: a yes runs it outside the sandbox. */
      readonly outsidePaths?: readonly string[]
      /** It creates temporary files, which only commands of this session see. */
      readonly createsTemporary?: true
    }
  | {
      readonly kind: 'mcp'
      readonly serverName: string
      readonly toolName: string
      readonly toolDisplayName: string
      readonly input?: string
      /** The difference from what the user has allowed before, line by line. */
      readonly changes?: string
    }
  /** The user approves, edits or refuses a plan. */
  | { readonly kind: 'plan'; readonly plan: string }
  /** The model asks the user something; the answer is the result of the call. */
  | { readonly kind: 'question'; readonly question: string; readonly options: readonly QuestionOption[] }
  /** A command failed because of the sandbox, and could run again with more access. */
  | { readonly kind: 'sandbox'; readonly command: string; readonly folder: string; readonly blocked: SandboxBlock }
  | {
      readonly kind: 'info'
      readonly prompt: string
      readonly urls?: readonly string[]
      /** What the user may fill in, with the default values. */
      readonly form?: JsonObject
    }
)

/** An answer that the model offers. */
export interface QuestionOption {
  readonly label: string
  readonly about?: string
}

/** The name that another agent, or another version of one, has for a tool. */
export interface ToolNameAlias {
  readonly name: string
  /** What its parameters are called here; others are refused. Without it every call is refused with a hint. */
  readonly parameters?: Readonly<Record<string, string>>
}

/** A tool as the agent uses it; `tool()` makes one. */
export interface Tool<Input extends JsonObject = JsonObject> {
  readonly spec: ToolSpec
  /** For lists and statistics. */
  readonly kind: 'read' | 'edit' | 'search' | 'execute' | 'fetch' | 'other'
  readonly origin: 'native' | 'mcp' | 'custom'
  /** Other names for parameters, accepted but never declared: `{ file_path: 'absolute_path' }`. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Other names for the tool itself, accepted but never declared. */
  readonly nameAliases?: readonly ToolNameAlias[]
  /** Names that rules of other agents have for it, beside `nameAliases`; several tools may share one. */
  readonly ruleAliases?: readonly string[]
  /** What hooks that were written for Claude Code call it. */
  readonly hookName?: string
  /** The start of a question about the paths of its effects: `Read`. Without it or a preview, the call is shown. */
  readonly verb?: string
  /**
   * A call that had started when the process was killed runs again when the session is resumed. Without it, no call ever runs
   * twice: the model is told that it was interrupted.
   */
  readonly safeToRetry?: boolean
  /** Milliseconds; unlimited without it. */
  readonly timeout?: number
  effects(input: Input, folders: readonly string[]): readonly Effect[]
  /** The arguments of a call that a rule means by its brackets: `write_file(src/a.ts)`. */
  ruleInput?(argument: string): JsonObject
  /** Returns what is wrong with arguments beyond their schema, as a sentence. */
  check?(input: Input, folders: readonly string[]): string | undefined
  /** What the user is shown for approval; without it, the call itself. */
  preview?(input: Input, context: ToolContext): Promise<ApprovalDetails>
  /** The arguments that lead to the content that the user made of the proposed one in an editor. */
  toModifiedInput?(input: Input, change: { readonly original: string | null; readonly content: string }): JsonObject
  run(input: Input, context: ToolContext): Promise<ToolOutput>
}
