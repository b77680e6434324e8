import type { JsonObject } from '../model/json.ts'
import type { Effect } from './effect.ts'

/** What may happen to a call: it runs, a person is asked, or it is refused. */
export type Verdict = 'allow' | 'ask' | 'deny'

/** How freely an agent may act: ask about edits and commands, edit without asking, ask nothing, or only look. */
export type ApprovalMode = 'default' | 'auto_edit' | 'yolo' | 'plan'

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
  /** What a person's “always” would cover, in words; absent where there is no “always”. */
  readonly covers?: string
  /** What “always” may stand for, the broadest first; absent where there is no “always”. */
  readonly grants?: readonly Grant[]
  /** The programs that a command would run, as far as they can be told. */
  readonly programs?: readonly string[]
  /** A command that is allowed only if git starts none of the programs that settings name: the host runs it so. */
  readonly gitHelpers?: 'off'
}

/** One thing that a person's “always” may stand for. */
export interface Grant {
  readonly breadth: 'subcommand' | 'exact' | 'tool' | 'path' | 'host' | 'server'
  /** The rules that together allow all that was asked about. None: this very text, which only the session can remember. */
  readonly rules: readonly string[]
  /** The same in words. */
  readonly covers: string
}

/** Decides what may happen. A person's “always” is remembered for the rest of the session, or saved. */
export interface Policy {
  decide(proposal: Proposal): Decision | Promise<Decision>
  /** Remembers that a person allowed this for good; gives in words what that covers. */
  remember(proposal: Proposal, scope: 'tool' | 'server' | 'saved'): string
}
