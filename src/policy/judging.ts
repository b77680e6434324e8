import type { Places } from './path/place.ts'
import type { ApprovalMode, Decision } from './policy.ts'
import type { Book } from './rule/book.ts'

/** What every judgement needs. */
export interface Judging {
  readonly mode: ApprovalMode
  readonly places: Places
  readonly book: Book
  readonly sandboxed?: () => Promise<boolean>
  /** Commands, with their folders, that the person has approved word for word. */
  readonly approved: Set<string>
  readonly rejected?: (text: string) => Promise<string | undefined>
}

/** A decision, with what would make it “always”. */
export interface Judged extends Decision {
  readonly always?: readonly Always[]
}

/** What a person's “always” stands for: a rule, or this very text; and the same in words. */
export interface Always {
  readonly rule?: string
  readonly text?: string
  readonly covers: string
}

/** Nothing is changed, run or fetched in plan mode, whatever the rules say. */
export function inPlan(): Judged {
  return { verdict: 'deny', rule: 'mode plan', why: 'In plan mode nothing is changed, run or fetched.' }
}
