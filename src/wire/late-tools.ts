import { getSnapshotSource } from '../model/history-snapshot.ts'
import { isObject } from '../model/json.ts'
import type { Profile } from '../model/profile.ts'
import type { HostedTool, ModelRequest, ToolSpec } from '../model/request.ts'
import type { NoteTurn, ResultPart, Turn, WireId } from '../model/turn.ts'

/** The tools of a request and of its history. The same request, or one with a longer history, gives the same object. */
export interface CollectedTools {
  /** Every tool that was ever declared, so that the names and arguments of old calls stay the same. */
  readonly known: readonly ToolSpec[]
  /** The tools that are not removed. */
  readonly current: readonly ToolSpec[]
  /** The result that found a tool first, by the name of the tool. */
  readonly foundBy: ReadonlyMap<string, ResultPart>
  /** The tools of notes that a result before the note had found. */
  readonly foundBefore: ReadonlySet<ToolSpec>
}

/** Can tools be added inside the history? */
export function hasNativeLateTools({ lateTools, tools }: Pick<Profile, 'lateTools' | 'tools'>): boolean {
  return lateTools === 'native' && tools === 'native'
}

/**
 * Can the model find deferred tools here? If not, they are declared like the others from the start: a tool that nothing finds
 * would be lost (T199), and one that appears when it is found would change the prefix.
 */
export function canFindTools(
  wire: WireId,
  { hostedTools = [] }: Pick<ModelRequest, 'hostedTools'>,
  profile: Profile,
  { known }: Pick<CollectedTools, 'known'>,
): boolean {
  if (!hasNativeLateTools(profile)) return false
  const searches = hostedTools.filter(isHostedToolSearch)
  if (searches.some((search) => search.wire === wire) || known.some(isToolSearchSpec)) return true
  // On Anthropic's wire the result of any tool may refer to deferred ones, so a search of the client is not declared as such.
  return wire === 'anthropic' && searches.length === 0
}

function isHostedToolSearch({ declaration: { type } }: HostedTool): boolean {
  return typeof type === 'string' && type.startsWith(TOOL_SEARCH)
}

/** The type of the tool that searches for deferred tools, on OpenAI's wire; Anthropic's types begin with it. */
export const TOOL_SEARCH = 'tool_search'

/** Is this the tool by which a client of OpenAI's wire searches for tools? One that the server runs is a hosted tool. */
export function isToolSearchSpec({ native }: Pick<ToolSpec, 'native'>): boolean {
  return native?.wire === 'openai-responses' && isObject(native.data) && native.data['type'] === TOOL_SEARCH
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
  const root = ROOTS.get(tools) ?? createNode({ known: tools, foundBy: new Map(), foundBefore: new Set() }, new Set())
  ROOTS.set(tools, root)
  return root
}

function getNextNode(node: ToolNode, change: ToolChange): ToolNode {
  const next = node.next.get(change) ?? applyChange(node, change)
  node.next.set(change, next)
  return next
}

function createNode(collected: Omit<CollectedTools, 'current'>, removed: ReadonlySet<string>): ToolNode {
  const { known } = collected
  const current = removed.size === 0 ? known : known.filter(({ name }) => !removed.has(name))
  return { collected: { ...collected, current }, removed, next: new WeakMap() }
}

function applyChange({ collected, removed }: ToolNode, change: ToolChange): ToolNode {
  const { known, foundBy, foundBefore } = collected
  if ('kind' in change) {
    const found = (change.foundTools ?? []).map((name) => [name, foundBy.get(name) ?? change] as const)
    return createNode({ known, foundBy: new Map([...foundBy, ...found]), foundBefore }, removed)
  }
  const gone = new Set([...removed, ...(change.removedTools ?? [])])
  if (!change.tools) return createNode(collected, gone)
  // A tool that is declared again replaces the older one.
  const byName = new Map([...known, ...change.tools].map((tool) => [tool.name, tool]))
  for (const { name } of change.tools) gone.delete(name)
  const found = change.tools.filter(({ name, deferred }) => deferred && foundBy.has(name))
  return createNode({ known: [...byName.values()], foundBy, foundBefore: new Set([...foundBefore, ...found]) }, gone)
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
