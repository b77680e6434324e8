import { wireIds } from '../../../wire/wires.ts'
import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const REHEARSE_COMMAND = {
  summary: 'run a scripted model server, for testing clients',
  usage: ['serve [options]'],
  about: [
    `Runs a scripted model behind a server on this machine, for testing any client. It supports these APIs: ${wireIds.join(', ')}. The model is the name of a script: tour, hello, loop, parallel, patient; or “script” for your own file.`,
  ],
  options: {
    port: { takes: '<n>', about: 'port; default: any free one' },
    script: { takes: '<file>', from: 'file', about: 'your own script, as JSON' },
    ...HELP_OPTION,
  },
  subcommands: {
    serve: {
      about: 'print the URL of the server, and serve until stopped',
      examples: ['dragoman rehearse serve --port 4000', 'dragoman rehearse serve --script script.json'],
    },
  },
} as const satisfies CliCommandSpec
