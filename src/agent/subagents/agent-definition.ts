import { defined } from '../../model/defined.ts'
import { parseFrontMatter } from '../../model/front-matter.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { isObject } from '../../model/json.ts'

/** An agent that the model can give a task to. */
export interface AgentDefinition {
  readonly name: string
  /** When to use it, for the model that chooses. */
  readonly description: string
  /** Its system prompt. */
  readonly instructions: string
  /** The names of its tools, here or at another agent; all without it. */
  readonly tools?: readonly string[]
  readonly disallowedTools?: readonly string[]
  /** Only tools that look. */
  readonly isReadOnly?: true
  /** `provider/model`, or a name that means the model of the session where no such model is available. */
  readonly model?: string
  readonly maxTurns?: number
  /** In US dollars. */
  readonly maxCost?: number
  readonly maxMs?: number
  /** It runs in the background without being told to. */
  readonly isBackground?: true
  /** The file; absent for a built-in one. */
  readonly source?: string
}

export const BUILTIN_AGENTS: readonly AgentDefinition[] = [
  {
    name: 'explore',
    description:
      'Searches and reads, and changes nothing. For questions about the code that need many searches: where something is done, how parts work together.',
    instructions: `You explore a workspace for another agent. You can search and read, and change nothing.
Search first, with several searches at a time, and then read what matters. Do not read whole large files when a part is enough.
Your last message is all that the other agent gets: answer the question, with the paths and line numbers that prove it. Say what you did not find.`,
    isReadOnly: true,
  },
  {
    name: 'general',
    description:
      'Has the same tools as you. For a task of several steps that can be described completely, so that its details do not fill this conversation.',
    instructions: `You work on one task for another agent, in the same workspace, with tools.
Do what the task asks, and no more. Nobody can answer questions: if something is open, choose what fits the task best, and say so.
Your last message is all that the other agent gets: say what you did and found, with the paths of the files concerned, and what is not done.`,
  },
]

/** Reads a definition: Markdown with front matter, as Claude Code, Gemini CLI and opencode have it. */
export function parseAgentDefinition(
  text: string,
  fileName: string,
): { readonly definition: AgentDefinition; readonly ignored: readonly string[] } | { readonly problem: string } {
  const { fields, body } = parseFrontMatter(text)
  const name = toText(fields['name']) ?? fileName.replace(/\.md$/i, '')
  if (!AGENT_NAME_PATTERN.test(name)) return { problem: `“${name}” is not a name; use letters, digits, - and _` }
  const description = toText(fields['description'])
  if (description === undefined) return { problem: 'it has no description' }
  if (body === '') return { problem: 'it has no instructions below its front matter' }
  const { tools, disallowedTools } = readTools(fields)
  const minutes = toCount(fields['timeout_mins'])
  const definition: AgentDefinition = {
    name,
    description,
    instructions: body,
    ...defined({
      tools,
      disallowedTools,
      model: toText(fields['model']),
      maxTurns: toCount(fields['maxTurns'] ?? fields['max_turns'] ?? fields['steps']),
      maxCost: toCount(fields['maxCost'] ?? fields['max_cost']),
      maxMs: minutes === undefined ? undefined : minutes * 60_000,
    }),
    ...(fields['permissionMode'] === 'plan' && { isReadOnly: true }),
    ...(fields['background'] === true && { isBackground: true }),
  }
  const ignored = Object.keys(fields).filter((key) => !READ_FIELDS.has(key))
  return { definition, ignored }
}

const AGENT_NAME_PATTERN = /^[A-Za-z0-9][\w.:-]{0,63}$/

const READ_FIELDS: ReadonlySet<string> = new Set([
  ...['name', 'description', 'tools', 'disallowedTools', 'model', 'maxTurns', 'max_turns', 'steps'],
  ...['maxCost', 'max_cost', 'timeout_mins', 'background', 'permissionMode'],
  // They say nothing about what the agent does.
  ...['color', 'kind', 'mode', 'display_name'],
])

/** A list, words between commas, or a map from names to true and false. */
function readTools(fields: JsonObject): Pick<AgentDefinition, 'tools' | 'disallowedTools'> {
  const { tools } = fields
  const disallowed = toNames(fields['disallowedTools'])
  if (!isObject(tools)) return defined({ tools: toNames(tools), disallowedTools: disallowed })
  const off = Object.keys(tools).filter((name) => tools[name] === false)
  return defined({ disallowedTools: [...(disallowed ?? []), ...off] })
}

function toNames(value: Json | undefined): readonly string[] | undefined {
  if (Array.isArray(value)) return value.flatMap((one) => toText(one) ?? [])
  const text = toText(value)
  return text?.match(/(?:[^,(]|\([^)]*\))+/g)?.flatMap((one) => toText(one) ?? [])
}

function toText(value: Json | undefined): string | undefined {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
  return text === '' ? undefined : text
}

function toCount(value: Json | undefined): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined
}
