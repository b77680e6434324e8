import { HELP } from '../line/options.ts'
import type { Page } from './page.ts'

/** The shells that can be taught to complete. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** `dragoman completion`. */
export const COMPLETION = {
  usage: ['<bash | zsh | fish>'],
  about: [
    'Prints what makes a shell complete commands, options, models, sessions and files. It asks dragoman itself for the words, so it never goes out of date.',
  ],
  options: HELP,
  words: SHELLS,
  examples: [
    'eval "$(dragoman completion bash)"          # in ~/.bashrc',
    'eval "$(dragoman completion zsh)"           # in ~/.zshrc, after compinit',
    'dragoman completion fish > ~/.config/fish/completions/dragoman.fish',
  ],
} as const satisfies Page
