import type { ApprovedFile } from '../model/security/approved-file.ts'
import type { JsonObject } from '../model/json.ts'
import type { SandboxAccess } from '../model/security/sandbox-access.ts'
import type { Effect } from './effect.ts'
import type { HiddenChanges } from './shell/hidden-changes.ts'

/** What a policy says about a call. */
export type Verdict = 'allow' | 'ask' | 'deny'

/** Returns the first item with the strictest verdict. */
export function findStrictest<Item extends { readonly verdict: Verdict }>(
  items: readonly (Item | undefined)[],
): Item | undefined {
  const verdicts = ['deny', 'ask', 'allow'] as const
  return verdicts.map((verdict) => items.find((item) => item?.verdict === verdict)).find(Boolean)
}

/** The approval modes, with the description that is shown. */
export const APPROVAL_MODES = {
  default: 'asks about edits and commands',
  auto_edit: 'edits run unasked, commands ask',
  yolo: 'asks nothing',
  plan: 'only looks, then makes a plan',
} as const

/** How much the agent may do unasked. */
export type ApprovalMode = keyof typeof APPROVAL_MODES

export const APPROVAL_MODE_NAMES = Object.keys(APPROVAL_MODES) as ApprovalMode[]

/** A call before it runs. */
export interface Proposal {
  readonly tool: string
  readonly input: JsonObject
  readonly effects: readonly Effect[]
}

/** The answer to a proposal, with the rule that decided, for the user and for the model. */
export interface Decision {
  readonly verdict: Verdict
  readonly rule: string
  readonly why: string
  /** Only the mode asks for approval: `why` adds nothing to the call itself. */
  readonly isRoutine?: true
  /** What the user may allow from now on, as returned by `offers`. */
  readonly grants?: readonly Grant[]
  /** The real paths of the files that are written, and of those outside the workspace. */
  readonly access?: readonly ApprovedFile[]
  /** The programs that a command would run, as far as known. */
  readonly programs?: readonly string[]
  readonly needsNetwork?: true
  readonly hiddenChanges?: HiddenChanges
  /** The command is proved to change nothing. */
  readonly isHarmless?: true
  /** The host must prevent git from starting programs named in its configuration. */
  readonly gitHelpers?: 'off'
}

/** Something that the user may allow from now on. It is offered only if it would take effect. */
export interface Grant {
  readonly breadth: 'subcommand' | 'exact' | 'tool' | 'path' | 'host' | 'server'
  /** Rules that allow it; empty if only this exact text is allowed, which no rule can express. */
  readonly rules: readonly string[]
  /** A description for the user. */
  readonly covers: string
  /** What the command may do beyond the sandbox, each time. */
  readonly sandboxAccess?: SandboxAccess
  /** The command itself is allowed already: only that access is added. */
  readonly isOnlyAccess?: true
  /** Default: only the session. */
  readonly scopes?: readonly GrantScope[]
}

export type GrantScope = 'session' | 'project' | 'user'

/** Decides what may happen, and keeps what the user allows from now on. */
export interface Policy {
  decide(proposal: Proposal): Decision | Promise<Decision>
  /** Called before a decision is needed: does in advance what nothing can change until then. */
  prepare?(proposal: Proposal): Promise<void>
  /** What the user may allow from now on, the broadest first; empty if approval is needed each time. */
  offers?(proposal: Proposal): Promise<readonly Grant[]>
  /** Keeps a grant that was offered for this proposal. Returns a description for the user. */
  remember(proposal: Proposal, grant: Grant, scope: GrantScope): string
  sessionGrants?(): readonly SessionGrant[]
  revoke?(grant: SessionGrant): void
  /** Stops applying a rule that was removed from the settings. */
  forget?(rule: string, verdict: Verdict): void
}

export interface SessionGrant extends Pick<Grant, 'rules' | 'covers'> {
  /** Commands that were allowed literally, which no rule can express. */
  readonly commandKeys: readonly string[]
}
