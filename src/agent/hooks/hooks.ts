import type { JsonObject } from '../../model/json.ts'
import type { ResultPart } from '../../model/turn.ts'
import type { Tool } from '../../tool/tool.ts'

/** What all hooks are told. */
export interface HookContext {
  readonly session: string
  /** The subagent that it happens in; absent for the agent of the session. */
  readonly subagent?: string
  readonly signal: AbortSignal
}

/** What any hook can answer. Every field is optional. */
export interface HookOutcome {
  /** A text that the model gets. */
  readonly additionalContext?: string
  /** A message to the user. */
  readonly systemMessage?: string
  /** The run ends, for this reason. */
  readonly stopReason?: string
}

/** The answer of a hook before a call. */
export interface PreToolUseOutcome extends HookOutcome {
  /** `deny` always counts. `allow` answers a routine question of the approval mode, and overrides no rule. */
  readonly permission?: 'allow' | 'ask' | 'deny'
  readonly reason?: string
  /** The arguments in place of those of the model. They are checked like any others. */
  readonly updatedInput?: JsonObject
}

/** The answer of a hook that can prevent something. */
export interface BlockOutcome extends HookOutcome {
  /** What happens is prevented, or (for `stop`) goes on; the reason is for the model, or for the user. */
  readonly block?: { readonly reason: string }
}

/** A call, for a hook. */
export interface ToolUse {
  readonly tool: Tool
  readonly call: string
  readonly input: JsonObject
}

/** What a hook returns: nothing, or an outcome, at once or later. */
export type HookAnswer<Outcome> = Outcome | undefined | void | Promise<Outcome | undefined | void>

/** The events of hooks. Each may be absent; one that throws is reported, and changes nothing. */
export interface Hooks {
  preToolUse?(event: HookContext & ToolUse): HookAnswer<PreToolUseOutcome>
  postToolUse?(event: HookContext & ToolUse & { readonly result: ResultPart }): HookAnswer<BlockOutcome>
  userPromptSubmit?(event: HookContext & { readonly prompt: string }): HookAnswer<BlockOutcome>
  sessionStart?(event: HookContext & { readonly source: 'startup' | 'resume' | 'compact' }): HookAnswer<HookOutcome>
  sessionEnd?(event: HookContext & { readonly reason: string }): HookAnswer<HookOutcome>
  /** The model has finished. A block lets it go on, with the reason as its task. `isActive`: it goes on because of a hook already. */
  stop?(event: HookContext & { readonly text: string; readonly isActive: boolean }): HookAnswer<BlockOutcome>
  preCompact?(
    event: HookContext & { readonly trigger: 'auto' | 'manual'; readonly instructions?: string },
  ): HookAnswer<BlockOutcome>
  notification?(
    event: HookContext & { readonly message: string; readonly kind: 'permission_prompt' },
  ): HookAnswer<HookOutcome>
}
