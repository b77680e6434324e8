import type { ApprovedFile } from '../model/security/approved-file.ts'
import type { JsonObject } from '../model/json.ts'
import type { Effect } from './effect.ts'

/** What may happen to a call: it runs, a person is asked, or it is refused. */
export type Verdict = 'allow' | 'ask' | 'deny'

/** How freely an agent may act: the names of the modes, and what each does. Whoever shows or reads a mode uses these. */
export const APPROVAL_MODES = {
  default: 'asks about edits and commands',
  auto_edit: 'edits run unasked, commands ask',
  yolo: 'asks nothing',
  plan: 'only looks, then makes a plan',
} as const

export type ApprovalMode = keyof typeof APPROVAL_MODES

/** The names of the modes. */
export const APPROVAL_MODE_NAMES = Object.keys(APPROVAL_MODES) as ApprovalMode[]

/** A call before it runs. */
export interface Proposal {
  readonly tool: string
  readonly input: JsonObject
  readonly effects: readonly Effect[]
}

/** The answer to a proposal, with the rule that decided and why, for the person and for the model. */
export interface Decision {
  readonly verdict: Verdict
  readonly rule: string
  readonly why: string
  /** Only the mode asks for approval: `why` says nothing that the call itself does not say. */
  readonly isRoutine?: true
  /** What a person may allow from now on, as `offers` found it; only in a question. */
  readonly grants?: readonly Grant[]
  /** The files that this is about, as they really are: those that are written, and those outside the workspace. */
  readonly access?: readonly ApprovedFile[]
  /** The programs that a command would run, as far as they can be told. */
  readonly programs?: readonly string[]
  /** A command that is known to need the network. */
  readonly needsNetwork?: true
  /** A command that is allowed only if git starts none of the programs that settings name: the host runs it so. */
  readonly gitHelpers?: 'off'
}

/** Something that a person may allow from now on. It is offered only if it would be kept. */
export interface Grant {
  readonly breadth: 'subcommand' | 'exact' | 'tool' | 'path' | 'host' | 'server'
  /** Rules that allow it; none if only this very text is allowed, which no rule can say. */
  readonly rules: readonly string[]
  /** The same in words. */
  readonly covers: string
  /** Where it can be kept; only for the session without it. */
  readonly scopes?: readonly GrantScope[]
}

/** How long and where a grant holds: until the session ends, in this project, or everywhere. */
export type GrantScope = 'session' | 'project' | 'user'

/** Decides what may happen, and keeps what a person allows from now on. */
export interface Policy {
  decide(proposal: Proposal): Decision | Promise<Decision>
  /** What a person who is asked may allow from now on, the broadest first; nothing where it is asked about each time. */
  offers?(proposal: Proposal): Promise<readonly Grant[]>
  /** Keeps a grant that was offered for this proposal; gives in words what holds now. */
  remember(proposal: Proposal, grant: Grant, scope: GrantScope): string
  /** What holds until the session ends, because the person allowed it. */
  sessionGrants?(): readonly SessionGrant[]
  /** Takes back what was allowed in this session. */
  revoke?(grant: SessionGrant): void
  /** A rule was taken out of the settings: it holds no more. */
  forget?(rule: string, verdict: Verdict): void
}

/** Something that was allowed until the session ends. */
export interface SessionGrant extends Pick<Grant, 'rules' | 'covers'> {
  /** Commands that were allowed word for word, which no rule can say. */
  readonly commandKeys: readonly string[]
}
