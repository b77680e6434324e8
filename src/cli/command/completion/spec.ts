import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish'] as const

export const COMPLETION_COMMAND = {
  summary: 'print a shell completion script',
  usage: ['<bash | zsh | fish>'],
  about: [
    'Prints a script that completes commands, options, models, sessions and files in your shell. It asks dragoman for the words, so it never goes out of date.',
  ],
  options: HELP_OPTION,
  positional: COMPLETION_SHELLS,
  examples: [
    'eval "$(dragoman completion bash)"          # in ~/.bashrc',
    'eval "$(dragoman completion zsh)"           # in ~/.zshrc, after compinit',
    'dragoman completion fish > ~/.config/fish/completions/dragoman.fish',
  ],
} as const satisfies CliCommandSpec
