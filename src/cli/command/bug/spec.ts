import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const BUG_COMMAND = {
  summary: 'write a bug report file without secrets',
  usage: ['[session] [options]'],
  about: [
    'Writes one report file: the session, the versions, the settings and the last trace. Keys, tokens, passwords, your home folder and images are removed; the conversation is included. The contents are listed before the file is written.',
  ],
  options: {
    trace: { takes: '<file>', from: 'file', about: 'include this trace; default $DRAGOMAN_TRACE' },
    'no-session': { about: 'leave the session out' },
    output: { takes: '<file>', from: 'file', about: 'file to write; default dragoman-bug.json' },
    yes: { about: 'write the file without asking' },
    cwd: { takes: '<folder>', from: 'folder', about: 'use the sessions of this folder' },
    ...HELP_OPTION,
  },
  positional: 'session',
  examples: [
    'dragoman bug',
    'dragoman bug latest --yes --output report.json',
    'dragoman bug --no-session --trace trace.jsonl',
  ],
} as const satisfies CliCommandSpec
