import type { FinishReason } from '../../model/turn.ts'

/** Maps the labels of a vendor, written as words, to the reasons that they mean. */
export function createFinishReasonMap(
  labels: Readonly<Partial<Record<FinishReason, string>>>,
): ReadonlyMap<string, FinishReason> {
  const entries = Object.entries(labels) as [FinishReason, string][]
  return new Map(entries.flatMap(([reason, words]) => words.split(' ').map((word) => [word, reason] as const)))
}
