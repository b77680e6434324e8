import type { ListOptions, SessionSummary } from './store.ts'

/** The sessions in the order that `list` promises; the database does the same with an index. */
export function selectListPage(summaries: readonly SessionSummary[], options: ListOptions = {}): SessionSummary[] {
  const { limit, before } = options
  if (limit === undefined && before === undefined) return summaries.toSorted((a, b) => b.changed - a.changed)
  assertListLimit(limit)
  return summaries
    .filter((one) => before === undefined || compareByCreation(one, before) > 0)
    .toSorted(compareByCreation)
    .slice(0, limit)
}

export function assertListLimit(limit: number | undefined): void {
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 1))
    throw new TypeError(`the limit of a list must be a positive integer, not ${limit}`)
}

type CreationKey = Pick<SessionSummary, 'id' | 'created'>

/** Those that were created last come first. */
function compareByCreation(one: CreationKey, other: CreationKey): number {
  if (one.created !== other.created) return other.created - one.created
  return one.id === other.id ? 0 : one.id < other.id ? 1 : -1
}
