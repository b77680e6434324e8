import { formatLocalTime } from '../../output/format.ts'
import type { Entry } from '../../../session/log/entry.ts'
import type { SessionSummary, Store } from '../../../session/store/store.ts'

/** The sessions of the subagents of a session, with those of theirs, the oldest first. */
export function formatSessionTree(id: string, all: readonly SessionSummary[]): string {
  const lines = formatBranches(id, all, '')
  return lines.length === 0 ? '' : `\n## Subagents\n\n${lines.join('\n')}\n`
}

function formatBranches(id: string, all: readonly SessionSummary[], indent: string): string[] {
  return listSubagents(id, all).flatMap((child) => [
    `${indent}- ${child.subagent?.name ?? ''}: ${child.id}  ${formatLocalTime(child.created)}${child.unfinished ? '  (unfinished)' : ''}  ${child.title}`,
    ...formatBranches(child.id, all, `${indent}  `),
  ])
}

function listSubagents(id: string, all: readonly SessionSummary[]): SessionSummary[] {
  return all
    .filter(({ subagent, id: own }) => subagent?.session === id && own !== id)
    .toSorted((one, other) => one.created - other.created)
}

/** The ids of all subagents, also of subagents. A session is never below itself. */
export function listSubagentIds(id: string, all: readonly SessionSummary[], above: readonly string[] = []): string[] {
  const children = listSubagents(id, all).filter((child) => !above.includes(child.id))
  return children.flatMap((child) => [child.id, ...listSubagentIds(child.id, all, [...above, id, child.id])])
}

export async function readSubagentLogs(id: string, store: Store): Promise<(readonly Entry[])[]> {
  const ids = listSubagentIds(id, await store.list())
  return Promise.all(ids.map(async (child) => (await store.read(child)).entries))
}
