import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const TRUST_COMMAND = {
  summary: 'trust or refuse what a project brings',
  usage: ['[--yes | --refuse | --forget]'],
  about: [
    'Without an option: shows the settings, MCP servers, commands, skills, subagents and hooks of this folder, and what has changed in them.',
  ],
  options: {
    yes: { about: 'trust them as they are now; you are asked again when they change' },
    refuse: { about: 'never use them' },
    forget: { about: 'forget your decision' },
    ...HELP_OPTION,
  },
  examples: ['dragoman trust', 'dragoman trust --yes'],
} as const satisfies CliCommandSpec
