import { lazy } from '../../model/lazy.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import type { ToolSpec } from '../../model/request.ts'
import type { Tool } from '../../tool/tool.ts'
import type { Toolbox } from '../../tool/toolbox.ts'
import type { AgentDefinition } from './agent-definition.ts'

/** The tools of a toolbox that a subagent may use. No subagent starts another one. */
export function filterToolbox(
  source: Toolbox,
  definition: Pick<AgentDefinition, 'tools' | 'disallowedTools' | 'isReadOnly'>,
  excludedTool: string,
): Toolbox & { readonly unknownNames: readonly string[] } {
  const { tools, disallowedTools = [], isReadOnly } = definition
  const wanted = tools?.some((name) => name === '*') ? undefined : tools
  const isAllowed = (tool: Tool): boolean =>
    tool.spec.name !== excludedTool &&
    !isPlanTool(tool) &&
    (!isReadOnly || READ_ONLY_KINDS.has(tool.kind)) &&
    (wanted === undefined || wanted.some((name) => isMeant(tool, name))) &&
    !disallowedTools.some((name) => isMeant(tool, name))

  // The same list as long as the source has the same one, so that requests stay the same.
  let last: { readonly from: readonly ToolSpec[]; readonly specs: readonly ToolSpec[] } | undefined
  function getSpecs(): readonly ToolSpec[] {
    if (last?.from === source.specs) return last.specs
    const specs = source.specs.filter(({ name }) => {
      const found = source.find(name)
      return 'tool' in found && isAllowed(found.tool)
    })
    last = { from: source.specs, specs }
    return specs
  }

  const unknownNames = lazy(() => {
    const all = source.specs.flatMap(({ name }) => {
      const found = source.find(name)
      return 'tool' in found ? [found.tool] : []
    })
    return (wanted ?? []).filter((name) => !all.some((tool) => isMeant(tool, name)))
  })

  return {
    get specs() {
      return getSpecs()
    },
    get unknownNames() {
      return unknownNames()
    },
    find(name) {
      const found = source.find(name)
      if ('problem' in found || isAllowed(found.tool)) return found
      const names = getSpecs().map((spec) => spec.name)
      return { problem: `This agent has no tool “${name}”. Its tools are: ${names.join(', ')}.` }
    },
    validateInput: (tool, input, calledAs) => source.validateInput(tool, input, calledAs),
    onRequestSent: () => source.onRequestSent?.(),
  }
}

const READ_ONLY_KINDS: ReadonlySet<Tool['kind']> = new Set(['read', 'search', 'fetch'])

/** Names may be ours or another agent's, with brackets that the policy decides about: `Bash(git log:*)`. */
function isMeant(tool: Tool, name: string): boolean {
  const { spec, nameAliases = [], ruleAliases = [] } = tool
  const plain = name.replace(/\(.*\)$/s, '').trim()
  if (spec.name === plain || nameAliases.some((alias) => alias.name === plain) || ruleAliases.includes(plain))
    return true
  if (tool.origin !== 'mcp') return false
  const [effect] = tool.effects({}, [])
  const identity = effect?.kind === 'unknown' ? effect.mcpTool : undefined
  const meant = plain.replace(/^mcp__/, '').replace(/__\*$/, '')
  return identity !== undefined && (identity.server === meant || `${identity.server}__${identity.tool}` === meant)
}

/** A plan is for the user of the session. */
function isPlanTool(tool: Tool): boolean {
  return tryOrUndefined(() => tool.effects({}, []))?.some(({ kind }) => kind === 'plan') ?? false
}
