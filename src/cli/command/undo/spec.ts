import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const UNDO_COMMAND = {
  summary: 'restore files to their state before a turn',
  usage: ['[turn] [options]'],
  about: [
    'Restores files to their state before a turn: before your third message, for “dragoman undo 3”. Without a number, before the last turn that changed files. The changes are shown first. What commands changed is undone, too, in a git repository (files that git tracks or could track) and in folders of up to 2000 files and 20 MB; elsewhere the first command says that it is not.',
  ],
  options: {
    session: { takes: '<id>', from: 'session', about: 'the session; default: the latest' },
    yes: { short: 'y', about: 'do not ask' },
    force: { about: 'also restore files that were changed by others since' },
    brief: { about: 'name the files without showing their changes' },
    redo: { about: 'reverse the last undo' },
    cwd: { takes: '<folder>', from: 'folder', about: 'use the sessions of this folder' },
    ...HELP_OPTION,
  },
  examples: ['dragoman undo', 'dragoman undo 3 --yes', 'dragoman undo --redo'],
} as const satisfies CliCommandSpec
