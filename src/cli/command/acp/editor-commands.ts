import type { EditorCommand } from '../../../acp/setup.ts'
import type { Catalog } from '../../../provider/catalog.ts'
import type { ActiveSession } from '../../tui/active-session.ts'
import { loadCustomPrompts } from '../../prompt-files/custom-prompts.ts'
import { loadSkills } from '../../prompt-files/skill-files.ts'
import INIT from '../../tui/slash/init.md'

/** The slash commands that make sense in an editor: it has its own for the others. */
export function listEditorCommands(
  folder: string,
  session: ActiveSession,
  catalog: () => Promise<Catalog>,
): readonly EditorCommand[] {
  const builtins: EditorCommand[] = [
    { name: 'init', about: 'let the model write an AGENTS.md for this project', run: () => ({ prompt: INIT }) },
    { name: 'compress', about: 'summarise the conversation so far', run: () => ({ compacts: true }) },
    {
      name: 'plan',
      about: 'switch to plan mode: the model only looks, then makes a plan',
      run() {
        session.agent.mode?.set('plan')
        return { text: 'Plan mode is on.' }
      },
    },
    {
      name: 'tools',
      about: 'list the tools of the model',
      run: () => ({ text: session.agent.toolbox.specs.map(({ name }) => `- ${name}`).join('\n') }),
    },
    {
      name: 'agents',
      about: 'list the agents that can get tasks',
      run: () => ({ text: session.agents.map(({ name, description }) => toListItem(name, description)).join('\n') }),
    },
    {
      name: 'skills',
      about: 'list the skills of this folder and your own',
      run() {
        const skills = loadSkills(folder).map(({ name, about }) => toListItem(`/${name}`, about))
        return { text: skills.length === 0 ? 'There are no skills.' : skills.join('\n') }
      },
    },
    {
      name: 'mcp',
      about: 'list the MCP servers and their state',
      run() {
        const servers = session.servers?.list ?? []
        const lines = servers.map(({ name, state }) => `- ${name}: ${state.status}`)
        return { text: lines.length === 0 ? 'There are no MCP servers.' : lines.join('\n') }
      },
    },
    {
      name: 'stats',
      about: 'show tokens, cost, tools and time',
      async run() {
        const { computeSessionStats } = await import('../sessions/stats.ts')
        const { formatSessionStats } = await import('../sessions/stats-text.ts')
        const stats = computeSessionStats(session.agent.session.entries, await catalog())
        return { text: `\`\`\`\n${formatSessionStats(stats)}\`\`\`` }
      },
    },
  ]
  const custom = loadCustomPrompts(folder).map((prompt): EditorCommand => ({
    name: prompt.name,
    about: prompt.about,
    takes: prompt.argumentHint ?? 'words for the prompt',
    async run(words, signal) {
      const { preparePrompt } = await import('../../prompt-files/prepare-prompt.ts')
      const { agent, grants } = session
      const prepared = await preparePrompt(prompt, words, { agent, grants, signal })
      return 'problem' in prepared ? { text: prepared.problem } : prepared
    },
  }))
  return [...builtins, ...custom.filter(({ name }) => !builtins.some((one) => one.name === name))]
}

function toListItem(name: string, about: string): string {
  return `- ${name}: ${about.replace(/\s+/g, ' ')}`
}
