import { isDeepStrictEqual } from 'node:util'
import type { ToolSpec } from '../../model/request.ts'
import type { NoteTurn } from '../../model/turn.ts'
import type { Session } from '../../session/session.ts'
import { MAX_DECLARED_TOOLS } from '../../tool/toolbox.ts'
import type { AgentContext } from '../agent-context.ts'

type Declaring = Pick<AgentContext, 'session' | 'toolbox'>

/**
 * The tools that a request declares beside its history. They stay the same until the next compaction, so that each request
 * begins like the one before; later changes are notes of the history.
 */
export function getRequestTools({ session, toolbox }: Declaring): readonly ToolSpec[] {
  const { entries } = session
  const declared = DECLARED.get(session)
  const newEntries = entries.slice(declared?.entryCount ?? entries.length)
  const isCurrent = declared?.toolbox === toolbox && !newEntries.some(({ kind }) => kind === 'compact')
  const tools = isCurrent ? declared.tools : chooseFirstTools(session, toolbox)
  DECLARED.set(session, { entryCount: entries.length, toolbox, tools })
  return tools
}

interface DeclaredTools {
  /** How long the log was; only what comes after may be a compaction. */
  readonly entryCount: number
  readonly toolbox: AgentContext['toolbox']
  readonly tools: readonly ToolSpec[]
}

const DECLARED = new WeakMap<Session, DeclaredTools>()

/** The tools that the model does not know of yet, and those that are gone, for a note. */
export function findToolChanges(agent: Declaring): Pick<NoteTurn, 'tools' | 'removedTools'> | undefined {
  const { session, toolbox } = agent
  if (!session.entries.some(({ kind }) => kind === 'request' || kind === 'turn')) {
    // Before the first request there is nothing to keep.
    DECLARED.delete(session)
    return undefined
  }
  const requestTools = getRequestTools(agent)
  if (requestTools === toolbox.specs) return undefined
  const known = new Map(requestTools.map((tool) => [tool.name, tool]))
  for (const turn of session.turns) {
    if (turn.role !== 'note') continue
    for (const name of turn.removedTools ?? []) known.delete(name)
    for (const tool of turn.tools ?? []) known.set(tool.name, tool)
  }
  const tools = toolbox.specs.filter((spec) => !isDeepStrictEqual(spec, known.get(spec.name)))
  const gone = new Set([...known.keys()].filter((name) => !canRun(toolbox, name)))
  const current = new Set(toolbox.specs.map(getName))
  // Tools that a search found earlier make room for those that it found now.
  const found = [...known.keys()].filter((name) => !current.has(name) && !gone.has(name))
  const excess = current.size + found.length - MAX_DECLARED_TOOLS
  const removedTools = [...gone, ...found.slice(0, Math.max(0, excess))]
  if (tools.length === 0 && removedTools.length === 0) return undefined
  return { ...(tools.length > 0 && { tools }), ...(removedTools.length > 0 && { removedTools }) }
}

/** All tools but those that notes of the history declare. What was found before a summary stays declared. */
function chooseFirstTools({ turns, entries }: Session, toolbox: AgentContext['toolbox']): readonly ToolSpec[] {
  const { specs } = toolbox
  const inHistory = new Set(turns.flatMap((turn) => (turn.role === 'note' ? (turn.tools ?? []) : [])).map(getName))
  const inSpecs = new Set(specs.map(getName))
  const earlier = new Map(
    entries.flatMap((entry) => (entry.kind === 'note' ? (entry.tools ?? []) : [])).map((tool) => [tool.name, tool]),
  )
  const found = [...earlier.values()].filter(({ name }) => !inSpecs.has(name) && canRun(toolbox, name))
  const all = found.length === 0 ? specs : [...specs, ...found]
  return inHistory.size === 0 ? all : all.filter(({ name }) => !inHistory.has(name))
}

function canRun(toolbox: AgentContext['toolbox'], name: string): boolean {
  const found = toolbox.find(name)
  return 'tool' in found && !found.renamed
}

function getName({ name }: ToolSpec): string {
  return name
}
