import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman bug`. */
export const BUG_COMMAND = {
  usage: ['[session] [options]'],
  about: [
    'Makes one file for a report: the session, the versions, the settings and the last trace. Keys, tokens, passwords, your home folder and pictures are taken out; what you and the model said is in it. It shows what is in it before it writes.',
  ],
  options: {
    trace: { takes: '<file>', from: 'file', about: 'a trace to put in; DRAGOMAN_TRACE if it is set' },
    'no-session': { about: 'leave the session out' },
    output: { takes: '<file>', from: 'file', about: 'where to write it; dragoman-bug.json if not said' },
    yes: { about: 'write it without a question' },
    cwd: { takes: '<folder>', from: 'folder', about: 'the folder whose session is meant' },
    ...HELP_OPTION,
  },
  positional: 'session',
  examples: [
    'dragoman bug',
    'dragoman bug latest --yes --output report.json',
    'dragoman bug --no-session --trace trace.jsonl',
  ],
} as const satisfies CliCommandSpec
