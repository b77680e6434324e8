import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const WORKER_COMMAND = {
  summary: 'work on the sessions of a server, from another machine',
  usage: ['--database <url> [options]'],
  about: ['Works on the sessions that servers with the same database have. Start as many as you need.'],
  options: {
    database: { takes: '<url>', about: 'the database of the servers: postgres://…; default: DRAGOMAN_DATABASE_URL' },
    model: { short: 'm', takes: '<name>', from: 'model', about: 'provider/model of sessions that name none' },
    label: { takes: '<name>', about: 'work on sessions with this label, too, in the current folder' },
    ...HELP_OPTION,
  },
  examples: ['dragoman worker --database postgres://db.example/dragoman --label web'],
} as const satisfies CliCommandSpec
