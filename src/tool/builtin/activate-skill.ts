import { createErrorOutput } from '../error-output.ts'
import type { Tool } from '../tool.ts'
import text from './activate-skill.md'
import { defineBuiltin } from './support/define-builtin.ts'
import { getOptionalTextArgument, getTextArgument } from './support/read-arguments.ts'

/** The skills of a session. */
export interface SkillCatalog {
  /** What the model is told of each before it is loaded; the same for the whole session. */
  readonly skills: readonly { readonly name: string; readonly about: string; readonly path?: string }[]
  /** The text of a skill, as it is now. */
  readonly load: (name: string, words: string) => Promise<{ readonly text: string } | { readonly problem: string }>
}

/** Declares the skills by name and description only; the text of one comes when it is used. */
export function createActivateSkillTool({ skills, load }: SkillCatalog): Tool {
  const names = skills.map(({ name }) => name)
  return defineBuiltin({
    name: 'activate_skill',
    text: `${text.trim()}${formatSkillList(skills)}`,
    kind: 'read',
    nameAliases: [
      { name: 'Skill', parameters: { skill: 'name', command: 'name', args: 'arguments' } },
      { name: 'skill', parameters: {} },
    ],
    properties: {
      name: { type: 'string', description: 'The name of the skill.', ...(names.length > 0 && { enum: names }) },
      arguments: { type: 'string', description: 'What the skill is used for, if it takes arguments.' },
    },
    required: ['name'],
    // Only text is loaded; what it asks for are calls of their own.
    effects(input) {
      const path = skills.find(({ name }) => name === input['name'])?.path
      return path === undefined ? [] : [{ kind: 'read', path }]
    },
    ruleInput: (argument) => ({ name: argument }),
    async run(input) {
      const name = getTextArgument(input, 'name')
      const skill = await load(name, getOptionalTextArgument(input, 'arguments') ?? '')
      if ('problem' in skill) return createErrorOutput(skill.problem, 'skill-unavailable')
      return { content: skill.text, display: `Skill ${name} loaded` }
    },
  })
}

const MAX_LIST_CHARS = 16_000

/** If there are very many skills, the last ones are only named. */
function formatSkillList(skills: SkillCatalog['skills']): string {
  let length = 0
  const rows = skills.map(({ name, about }) => {
    length += name.length + about.length
    return length > MAX_LIST_CHARS || about === '' ? `- ${name}` : `- ${name}: ${about}`
  })
  return rows.length === 0 ? '' : `\n\nThe skills:\n${rows.join('\n')}`
}
