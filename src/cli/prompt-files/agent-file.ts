import type { AgentDefinition } from '../../agent/subagents/agent-definition.ts'
import { defined } from '../../model/defined.ts'
import { type FrontMatterFields, getListField, getTextField, parseFrontMatter } from './front-matter.ts'

/** Reads a definition of an agent: Markdown with front matter, as Claude Code and Gemini CLI have it. */
export function parseAgentFile(
  text: string,
  fileName: string,
): { readonly definition: AgentDefinition; readonly ignored: readonly string[] } | { readonly problem: string } {
  const { fields, body } = parseFrontMatter(text)
  const name = getTextField(fields, 'name') ?? fileName.replace(/\.md$/i, '')
  if (!AGENT_NAME_PATTERN.test(name)) return { problem: `“${name}” is not a name; use letters, digits, - and _` }
  const description = getTextField(fields, 'description')
  if (description === undefined) return { problem: 'it has no description' }
  const instructions = body.trim()
  if (instructions === '') return { problem: 'it has no instructions below its front matter' }
  const minutes = getNumber(fields, 'timeout_mins')
  const definition: AgentDefinition = {
    name,
    description,
    instructions,
    ...defined({
      tools: getNames(fields, 'tools'),
      disallowedTools: getNames(fields, 'disallowedTools'),
      model: getTextField(fields, 'model'),
      maxTurns: getNumber(fields, 'maxTurns') ?? getNumber(fields, 'max_turns'),
      maxCost: getNumber(fields, 'maxCost') ?? getNumber(fields, 'max_cost'),
      maxMs: minutes === undefined ? undefined : minutes * 60_000,
    }),
    ...(getTextField(fields, 'permissionMode') === 'plan' && { isReadOnly: true }),
    ...(getTextField(fields, 'background') === 'true' && { isBackground: true }),
  }
  return { definition, ignored: Object.keys(fields).filter((key) => !READ_FIELDS.has(key)) }
}

const AGENT_NAME_PATTERN = /^[A-Za-z0-9][\w.:-]{0,63}$/

const READ_FIELDS: ReadonlySet<string> = new Set(
  (
    'name description tools disallowedTools model maxTurns max_turns maxCost max_cost timeout_mins background permissionMode ' +
    // They say nothing about what the agent does.
    'color kind display_name'
  ).split(' '),
)

function getNames(fields: FrontMatterFields, name: string): readonly string[] | undefined {
  const names = getListField(fields, name)
  return names.length === 0 ? undefined : names
}

function getNumber(fields: FrontMatterFields, name: string): number | undefined {
  const value = Number(getTextField(fields, name) ?? Number.NaN)
  return Number.isFinite(value) && value > 0 ? value : undefined
}
