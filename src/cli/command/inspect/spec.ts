import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const INSPECT_COMMAND = {
  summary: 'show in a browser what sessions sent to the model, and what it cost',
  usage: ['[session] [options]'],
  about: [
    'Opens a page on this machine with the requests of the sessions of this folder: what fills the context, where the prefix of the cache broke, the conversation, calls and costs. It shows new requests as they are made. The same page shows the traffic of dragoman gateway.',
    'A session is named by its id, by the beginning of its id, or as “latest”; without one, the page shows the latest sessions.',
  ],
  options: {
    cwd: { takes: '<folder>', from: 'folder', about: 'use the sessions of this folder' },
    port: { takes: '<n>', about: 'port; default: any free one' },
    json: { about: 'print the URL, the token and the address of the page as one line of JSON' },
    'no-open': { about: 'do not open the browser' },
    ...HELP_OPTION,
  },
  positional: 'session',
  examples: ['dragoman inspect', 'dragoman inspect latest --no-open'],
} as const satisfies CliCommandSpec
