import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman rehearse`. */
export const REHEARSE_COMMAND = {
  usage: ['serve [options]'],
  about: [
    'A scripted model behind a server on this machine, which speaks all five wires: point any client at it. The model is the name of a script: tour, hello, loop, parallel, patient; or “script” for the file that you give.',
  ],
  options: {
    port: { takes: '<n>', about: 'the port; any free one if not said' },
    script: { takes: '<file>', from: 'file', about: 'a script of your own, as JSON' },
    ...HELP_OPTION,
  },
  subcommands: {
    serve: {
      about: 'serves until it is stopped, and prints its address first',
      examples: ['dragoman rehearse serve --port 4000', 'dragoman rehearse serve --script script.json'],
    },
  },
  examples: ['dragoman rehearse serve --port 4000', 'dragoman rehearse serve --script script.json'],
} as const satisfies CliCommandSpec
