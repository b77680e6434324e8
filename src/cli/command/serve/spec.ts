import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const SERVE_COMMAND = {
  summary: 'serve sessions over HTTP',
  usage: ['[options]'],
  about: [
    'Serves sessions over HTTP: create them, send prompts, follow events, answer questions. Sessions are kept on this machine, or with --database in Postgres, where any number of servers and workers share them. GET /openapi.json describes the API.',
    'Without --token and without tenants in the settings, a random token is made and printed.',
  ],
  options: {
    port: { takes: '<n>', about: 'port; default: any free one' },
    host: { takes: '<address>', about: 'address to listen on; default: 127.0.0.1, this machine only' },
    token: {
      takes: '<token>',
      about: 'the token of clients, at least 16 characters; default: DRAGOMAN_SERVER_TOKEN, or a random one',
    },
    json: { about: 'print {"url","token"} as the first line' },
    model: { short: 'm', takes: '<name>', from: 'model', about: 'provider/model of sessions that name none' },
    label: {
      takes: '<name>',
      about: 'work on sessions with this label, too, in the current folder',
    },
    database: {
      takes: '<url>',
      about: 'share sessions with other machines: postgres://…; default: DRAGOMAN_DATABASE_URL',
    },
    ...HELP_OPTION,
  },
  examples: [
    'dragoman serve',
    'dragoman serve --port 4000 --json',
    'dragoman serve --database postgres://localhost/dragoman',
  ],
} as const satisfies CliCommandSpec
