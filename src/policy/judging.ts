import type { Places } from './path/place.ts'
import type { ApprovalMode, Decision } from './policy.ts'
import type { Book } from './rule/book.ts'

/** What every judgement needs. */
export interface Judging {
  readonly mode: ApprovalMode
  readonly places: Places
  readonly book: Book
  readonly sandboxed?: () => Promise<boolean>
  /** Commands, with their folders, that the person has approved word for word, each as `textKey` writes it. */
  readonly approved: ReadonlySet<string>
  readonly rejected?: (text: string) => Promise<string | undefined>
}

/** A decision on one effect. Its grants are what could be allowed; whether they would be kept is seen later. */
export type Judged = Decision

/** In plan mode the model may look; nothing is changed, whatever the rules say. */
export function inPlan(): Judged {
  return { verdict: 'deny', rule: 'mode plan', why: 'In plan mode nothing is changed; finish the plan first.' }
}

/** A command in its folder, as what is approved word for word. */
export function textKey(command: string, folder: string): string {
  return JSON.stringify([command, folder])
}
