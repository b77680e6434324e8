import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** The shells that can be taught to complete. */
export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish'] as const

/** `dragoman completion`. */
export const COMPLETION_COMMAND = {
  usage: ['<bash | zsh | fish>'],
  about: [
    'Prints what makes a shell complete commands, options, models, sessions and files. It asks dragoman itself for the words, so it never goes out of date.',
  ],
  options: HELP_OPTION,
  positional: COMPLETION_SHELLS,
  examples: [
    'eval "$(dragoman completion bash)"          # in ~/.bashrc',
    'eval "$(dragoman completion zsh)"           # in ~/.zshrc, after compinit',
    'dragoman completion fish > ~/.config/fish/completions/dragoman.fish',
  ],
} as const satisfies CliCommandSpec
