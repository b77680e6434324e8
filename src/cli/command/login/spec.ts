import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const LOGIN_COMMAND = {
  summary: 'store an API key or sign in',
  usage: ['<provider> [options]', '--list'],
  about: [
    'Stores an API key. Enter it at the prompt (hidden) or pipe it in. It is checked with the provider and stored in a file that only you can read. A key in an environment variable takes precedence over a stored one.',
  ],
  options: {
    'client-file': {
      takes: '<file>',
      from: 'file',
      about: 'vertex and code-assist: sign in with the browser, with an OAuth client that you registered',
    },
    'no-check': { about: 'store a key without checking it' },
    list: { about: 'list the stored credentials; never shows a key' },
    ...HELP_OPTION,
  },
  positional: 'provider',
  examples: [
    'dragoman login openai',
    'pass show openrouter | dragoman login openrouter',
    'dragoman login code-assist --client-file client.json',
  ],
} as const satisfies CliCommandSpec

export const LOGOUT_COMMAND = {
  summary: 'remove a stored key or sign-in',
  usage: ['<provider>'],
  about: ['Removes what dragoman login has stored. Keys in environment variables are not changed.'],
  options: HELP_OPTION,
  positional: 'provider',
  examples: ['dragoman logout openai'],
} as const satisfies CliCommandSpec
