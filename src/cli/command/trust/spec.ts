import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman trust`. */
export const TRUST_COMMAND = {
  usage: ['[--yes | --refuse | --forget]'],
  about: ["Without an option: shows what of this folder's settings could run something or send something elsewhere."],
  options: {
    yes: { about: 'trusts them as they are now; when they change, you are asked again' },
    refuse: { about: 'never uses them' },
    forget: { about: 'as if you had never been asked' },
    ...HELP_OPTION,
  },
  examples: ['dragoman trust', 'dragoman trust --yes'],
} as const satisfies CliCommandSpec
