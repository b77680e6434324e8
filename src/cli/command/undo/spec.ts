import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman undo`. */
export const UNDO_COMMAND = {
  usage: ['[turn] [options]'],
  about: [
    'Puts files back as they were before a turn: before the third thing that you said, for “dragoman undo 3”. Without a number, before the last turn in which files were changed. Shows first what will change. What commands did is not undone.',
  ],
  options: {
    session: { takes: '<id>', from: 'session', about: 'the session; the latest one without it' },
    yes: { short: 'y', about: 'does not ask' },
    force: { about: 'also puts back files that somebody else has changed since' },
    redo: { about: 'takes the last undo back' },
    cwd: { takes: '<folder>', from: 'folder', about: 'the folder whose sessions are meant' },
    ...HELP_OPTION,
  },
  examples: ['dragoman undo', 'dragoman undo 3 --yes', 'dragoman undo --redo'],
} as const satisfies CliCommandSpec
