import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman login`. */
export const LOGIN_COMMAND = {
  usage: ['<provider> [options]', '--list'],
  about: [
    'Stores a key, so that no variable need hold it. It is typed unseen, or read from standard input; it is tried at the provider before it is stored, in a file that only you can read. A key in a variable comes before a stored one.',
  ],
  options: {
    'client-file': {
      takes: '<file>',
      from: 'file',
      about: 'vertex and code-assist: sign in in the browser, with an OAuth client of your own',
    },
    'no-check': { about: 'store a key without trying it' },
    list: { about: 'who is signed in, and how; never the key' },
    ...HELP_OPTION,
  },
  positional: 'provider',
  examples: [
    'dragoman login openai',
    'pass show openrouter | dragoman login openrouter',
    'dragoman login code-assist --client-file client.json',
  ],
} as const satisfies CliCommandSpec

/** `dragoman logout`. */
export const LOGOUT_COMMAND = {
  usage: ['<provider>'],
  about: ['Forgets what dragoman login has stored. Keys in variables stay where they are.'],
  options: HELP_OPTION,
  positional: 'provider',
  examples: ['dragoman logout openai'],
} as const satisfies CliCommandSpec
