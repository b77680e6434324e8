import { getSnapshotSource } from '../model/history-snapshot.ts'
import type { Profile } from '../model/profile.ts'
import type { ModelRequest, ToolSpec } from '../model/request.ts'
import type { NoteTurn, ResultPart, Turn } from '../model/turn.ts'

/** The tools of a request and of its history. The same request, or one with a longer history, gives the same object. */
export interface CollectedTools {
  /** Every tool that was ever declared, so that the names and arguments of old calls stay the same. */
  readonly known: readonly ToolSpec[]
  /** The tools that the model can call now: not removed, and found if they are deferred. */
  readonly callable: readonly ToolSpec[]
  /** The result that found a deferred tool first, by the name of the tool. */
  readonly foundBy: ReadonlyMap<string, ResultPart>
}

/** Can tools be added inside the history? */
export function hasNativeLateTools({ lateTools, tools }: Pick<Profile, 'lateTools' | 'tools'>): boolean {
  return lateTools === 'native' && tools === 'native'
}

/** Collects the tools of a request, those that notes of its history add or remove, and those that results found. */
export function collectDeclaredTools({ tools, turns }: Pick<ModelRequest, 'tools' | 'turns'>): CollectedTools {
  return listToolChanges(turns).reduce(getNextNode, getRoot(tools)).collected
}

/** A part of a history that changes the tools. */
type ToolChange = NoteTurn | ResultPart

/** The tools after some changes; the next change leads to the next node, so that nothing is collected twice. */
interface ToolNode {
  readonly collected: CollectedTools
  readonly removed: ReadonlySet<string>
  readonly next: WeakMap<ToolChange, ToolNode>
}

const ROOTS = new WeakMap<readonly ToolSpec[], ToolNode>()

function getRoot(tools: readonly ToolSpec[]): ToolNode {
  const root = ROOTS.get(tools) ?? createNode(tools, new Map(), new Set())
  ROOTS.set(tools, root)
  return root
}

function getNextNode(node: ToolNode, change: ToolChange): ToolNode {
  const next = node.next.get(change) ?? applyChange(node, change)
  node.next.set(change, next)
  return next
}

function createNode(
  known: readonly ToolSpec[],
  foundBy: ReadonlyMap<string, ResultPart>,
  removed: ReadonlySet<string>,
): ToolNode {
  const isCallable = ({ name, deferred }: ToolSpec) => !removed.has(name) && (!deferred || foundBy.has(name))
  const callable = known.every(isCallable) ? known : known.filter(isCallable)
  return { collected: { known, callable, foundBy }, removed, next: new WeakMap() }
}

function applyChange({ collected: { known, foundBy }, removed }: ToolNode, change: ToolChange): ToolNode {
  if ('kind' in change) {
    const found = (change.foundTools ?? []).map((name) => [name, foundBy.get(name) ?? change] as const)
    return createNode(known, new Map([...foundBy, ...found]), removed)
  }
  const gone = new Set([...removed, ...(change.removedTools ?? [])])
  if (!change.tools) return createNode(known, foundBy, gone)
  // A tool that is declared again replaces the older one.
  const byName = new Map([...known, ...change.tools].map((tool) => [tool.name, tool]))
  for (const { name } of change.tools) gone.delete(name)
  return createNode([...byName.values()], foundBy, gone)
}

/** Only the turns that are new since the last request are searched. */
function listToolChanges(turns: readonly Turn[]): readonly ToolChange[] {
  const source = getSnapshotSource(turns)
  const cached = CHANGES.get(source)
  const isLonger = cached && turns.length >= cached.count && turns[cached.count - 1] === cached.last
  const before = isLonger ? cached : { count: 0, changes: [] }
  const added = turns.slice(before.count).flatMap(findToolChanges)
  const changes = added.length === 0 ? before.changes : [...before.changes, ...added]
  CHANGES.set(source, { count: turns.length, last: turns.at(-1), changes })
  return changes
}

const CHANGES = new WeakMap<
  readonly Turn[],
  { count: number; last: Turn | undefined; changes: readonly ToolChange[] }
>()

function findToolChanges(turn: Turn): readonly ToolChange[] {
  if (turn.role === 'note') return turn.tools || turn.removedTools ? [turn] : []
  return turn.role === 'results' ? turn.parts.filter(({ foundTools }) => foundTools && foundTools.length > 0) : []
}
