import { stringOrEmpty } from '../../model/json.ts'
import type {
  AssistantPart,
  AssistantTurn,
  MediaPart,
  ModelOrigin,
  ResultPart,
  TextPart,
  Turn,
} from '../../model/turn.ts'

/** A record of another agent's log, of which nothing is known yet. */
export type LogRecord = Readonly<Record<string, unknown>>

/** The agents whose sessions can be imported, by the words that users type for them. */
export const FOREIGN_AGENTS = {
  claude: 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'opencode',
  pi: 'pi',
} as const satisfies Readonly<Record<string, string>>

export type ForeignAgent = keyof typeof FOREIGN_AGENTS

/** A session as another agent has stored it, before it is repaired. */
export interface ForeignSession {
  readonly agent: ForeignAgent
  readonly id?: string
  /** Where it was made. */
  readonly folder?: string
  readonly steps: readonly ForeignStep[]
  /** What could not be read. */
  readonly findings: readonly ImportFinding[]
}

/** A turn, or a summary that replaced everything before it. */
export type ForeignStep = Turn | { readonly role: 'summary'; readonly text: string }

/** Something that was wrong in a log, or that is not imported. */
export type ImportFindingKind =
  /** A line, or the whole file from a place on, is not JSON. */
  | 'unreadable-line'
  /** A message names a predecessor that the log does not have. */
  | 'missing-link'
  | 'unanswered-call'
  | 'repeated-call-id'
  | 'repeated-call'
  | 'result-without-call'
  | 'repeated-result'
  | 'misplaced-result'
  | 'unnamed-call'
  /** Messages of the other agent to its model: its instructions, its environment, errors. */
  | 'agent-message'
  /** Messages on a branch that the user left. */
  | 'other-branch'

export interface ImportFinding {
  readonly kind: ImportFindingKind
  readonly count: number
}

/** Counts findings by their kind. */
export class FindingCounter {
  readonly #counts = new Map<ImportFindingKind, number>()

  add(kind: ImportFindingKind, count = 1): void {
    if (count > 0) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + count)
  }

  addAll(findings: readonly ImportFinding[]): void {
    for (const { kind, count } of findings) this.add(kind, count)
  }

  list(): ImportFinding[] {
    return [...this.#counts].map(([kind, count]) => ({ kind, count }))
  }
}

export function createUserStep(...parts: readonly (TextPart | MediaPart)[]): ForeignStep {
  return { role: 'user', parts }
}

export function createAssistantStep(parts: readonly AssistantPart[], origin: ModelOrigin): AssistantTurn {
  return { role: 'assistant', origin, parts, finish: { reason: 'stop' } }
}

/** A response of the model, and the results of its calls where the log has them together. */
export function createResponseSteps(
  parts: readonly AssistantPart[],
  results: readonly (ResultPart | undefined)[],
  origin: ModelOrigin,
): ForeignStep[] {
  const present = results.flatMap((result) => result ?? [])
  return [
    createAssistantStep(parts, origin),
    ...(present.length > 0 ? [{ role: 'results' as const, parts: present }] : []),
  ]
}

/** A text part from a field that should be a string. */
export function createTextPart(value: unknown): TextPart {
  return { kind: 'text', text: stringOrEmpty(value) }
}
