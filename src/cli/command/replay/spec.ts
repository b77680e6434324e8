import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman replay`. */
export const REPLAY_COMMAND = {
  usage: ['<folder> [options]'],
  about: [
    'Plays a session again that was recorded with --record, with no network and no tools, and says where this version would do something else: in the system prompt, in the tools, in a turn, or in how an answer is read. Exit code 1 if it does.',
    'With --until it takes the options of a run too, for what is then done for real.',
  ],
  options: {
    json: { about: 'what was found, as JSON' },
    until: { takes: '<n>', about: 'play up to the n-th answer, and go on from there for real, in a new session' },
    ...HELP_OPTION,
  },
  positional: 'folder',
  takesRunOptions: true,
  examples: [
    'dragoman -p "mend the test" --record tape',
    'dragoman replay tape',
    'dragoman replay tape --until 2 --model anthropic/claude-sonnet-4-5',
  ],
} as const satisfies CliCommandSpec
