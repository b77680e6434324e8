import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const ACP_COMMAND = {
  summary: 'run as an agent in an editor (Agent Client Protocol)',
  usage: ['[options]', '--login [provider]'],
  about: [
    'Speaks the Agent Client Protocol on standard input and output. Editors start it: Zed, JetBrains, Neovim, VS Code, Emacs and others. How to set them up is in docs/editors.md.',
    'The options of a run apply to every session, for example --model or --approval-mode. Messages for you go to standard error.',
  ],
  options: {
    login: {
      takes: '[provider]',
      implicitValue: 'ask',
      from: 'provider',
      about: 'store an API key on the terminal and exit; editors call this to sign in',
    },
    ...HELP_OPTION,
  },
  takesRunOptions: true,
  examples: ['dragoman acp', 'dragoman acp --model anthropic/claude-sonnet-5', 'dragoman acp --login openai'],
} as const satisfies CliCommandSpec
