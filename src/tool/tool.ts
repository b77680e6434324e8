import type { Host } from '../host/host.ts'
import type { JsonObject } from '../model/json.ts'
import type { ToolSpec } from '../model/request.ts'
import type { SandboxAccess, SandboxBlock } from '../model/security/sandbox-access.ts'
import type { MediaPart, ResultPart, TextPart } from '../model/turn.ts'
import type { Effect } from '../policy/effect.ts'

/** What a tool gives back: `content` for the model, `display` for the person. */
export interface ToolOutput {
  readonly content: string | readonly (TextPart | MediaPart)[]
  readonly display?: ResultDisplay
  /** A structured answer, for models that take one. */
  readonly data?: ResultPart['data']
  /** The tool did not do what it was asked to. */
  readonly error?: { readonly message: string; readonly type?: string }
  /** The content without what differs each time, such as process numbers: by it a repeated call is noticed. */
  readonly stable?: string
  /** Figures for the statistics: lines added and removed, and the like. */
  readonly facts?: JsonObject
  /** It failed, probably because the sandbox kept it from the network or from files. */
  readonly blocked?: SandboxBlock
  /** What the person is told beside the result, whatever is shown of it: a file of theirs was renamed, and the like. */
  readonly notices?: readonly string[]
}

/** What a person sees of a result: words, a document, or a change to a file. */
export type ResultDisplay = string | FileDiff | MarkdownDisplay

/** A text in Markdown, and what became of it in a few words. */
export interface MarkdownDisplay {
  readonly title: string
  readonly markdown: string
}

/** A change to a file, as editors know it. */
export interface FileDiff {
  readonly fileDiff: string
  readonly fileName: string
  readonly originalContent: string | null
  readonly newContent: string
  readonly diffStat: DiffStat
}

/** How many lines the model changed, and how many the person changed in the model's proposal. */
export interface DiffStat {
  readonly ai_added_lines: number
  readonly ai_removed_lines: number
  readonly user_added_lines: number
  readonly user_removed_lines: number
}

/** What a tool may use while it runs. */
export interface ToolContext {
  readonly host: Host
  /** The folders that the agent works in; the first one is where it was started. */
  readonly folders: readonly string[]
  readonly signal: AbortSignal
  /** Shows how far it is; the person sees it at most once a second. */
  readonly progress: (text: string) => void
  /** What the person changed in the proposal before allowing it. */
  readonly modified?: boolean
  /** With `modified`: the arguments as the model had written them, so that its lines can be told from the person's. */
  readonly proposed?: JsonObject
  /** What the person let this call do beyond the sandbox. */
  readonly sandboxAccess?: SandboxAccess
  /** The command was allowed only if git starts none of the programs that settings name. */
  readonly gitHelpers?: 'off'
  /** Notes what a file was when the model last saw it, so that a change by somebody else is noticed. */
  readonly seenFiles: SeenFiles
}

/** The files that the model has seen in this session, by what they held. */
export interface SeenFiles {
  setHash(path: string, hash: string): void
  /** The hash under which the model knows the file, if it has seen it. */
  getHash(path: string): string | undefined
}

/** What a person is shown before a call runs. */
export type ApprovalDetails =
  | {
      readonly kind: 'edit'
      readonly title: string
      readonly fileName: string
      readonly filePath: string
      readonly fileDiff: string
      readonly originalContent: string | null
      readonly newContent: string
    }
  | {
      readonly kind: 'exec'
      readonly title: string
      readonly command: string
      readonly rootCommand: string
      readonly folder: string
      /** It needs the network, which the sandbox closes to it; the person may open it for this command. */
      readonly isOffline?: true
    }
  | {
      readonly kind: 'mcp'
      readonly title: string
      readonly serverName: string
      readonly toolName: string
      readonly toolDisplayName: string
      /** The arguments of the call, written out. */
      readonly input?: string
      /** What is different from what the person has allowed before, line by line. */
      readonly changes?: string
    }
  /** A plan that the person approves, edits or refuses; carrying it out begins with their yes. */
  | { readonly kind: 'plan'; readonly title: string; readonly plan: string }
  /** A command failed because of the sandbox, and could run again with more access. */
  | {
      readonly kind: 'sandbox'
      readonly title: string
      readonly command: string
      readonly folder: string
      readonly blocked: SandboxBlock
    }
  | {
      readonly kind: 'info'
      readonly title: string
      readonly prompt: string
      readonly urls?: readonly string[]
      /** What the person may fill in before they say yes, with the values that hold otherwise. */
      readonly form?: JsonObject
    }

/** The name that another agent, or another version of one, has for a tool. */
export interface ToolNameAlias {
  readonly name: string
  /**
   * What its parameters are called here; a call with a parameter that is neither listed nor ours is refused. Without it every
   * call is refused, because the name means something else there, and the model is told which tool to call.
   */
  readonly parameters?: Readonly<Record<string, string>>
}

/** A tool: what the model is told, what a call would do, and how it is done. */
export interface Tool<Input extends JsonObject = JsonObject> {
  readonly spec: ToolSpec
  /** What stands in lists and statistics. */
  readonly kind: 'read' | 'edit' | 'search' | 'execute' | 'fetch' | 'other'
  readonly origin: 'native' | 'mcp' | 'custom'
  /** Other names for parameters, accepted but never declared: `{ file_path: 'absolute_path' }`. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Other names for the tool itself, accepted but never declared. */
  readonly nameAliases?: readonly ToolNameAlias[]
  /** Names that rules of other agents have for it, beside `nameAliases`; several tools may share one. */
  readonly ruleAliases?: readonly string[]
  /** What it does with the paths of its effects, as a question begins: `Read`. Without it, or a preview, the call is shown. */
  readonly verb?: string
  /** Milliseconds; without it, as long as it takes. */
  readonly timeout?: number
  effects(input: Input, folders: readonly string[]): readonly Effect[]
  /** The arguments of a call that a rule means by its brackets: `write_file(src/a.ts)`. */
  ruleInput?(argument: string): JsonObject
  /** Says what is wrong with arguments beyond their schema, in a sentence. */
  check?(input: Input, folders: readonly string[]): string | undefined
  /** What the person is shown if they are asked; without it, the call itself. */
  preview?(input: Input, context: ToolContext): Promise<ApprovalDetails>
  /** The arguments that lead to the content which a person made of the proposed one, in an editor of their own. */
  toModifiedInput?(input: Input, change: { readonly original: string | null; readonly content: string }): JsonObject
  run(input: Input, context: ToolContext): Promise<ToolOutput>
}
