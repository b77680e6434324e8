import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const REPLAY_COMMAND = {
  summary: 'replay a recorded session and report differences',
  usage: ['<folder> [options]'],
  about: [
    'Replays a session recorded with --record, offline and without running tools, and reports where this version behaves differently: in the system prompt, in the tools, in a turn, or in how a response is read. The exit code is 1 if it does.',
    'With --until, the session then continues live; the options of a run apply to that part.',
  ],
  options: {
    json: { about: 'print the differences as JSON' },
    until: { takes: '<n>', about: 'replay up to the n-th response, and continue live from there in a new session' },
    ...HELP_OPTION,
  },
  positional: 'folder',
  takesRunOptions: true,
  examples: [
    'dragoman -p "fix the test" --record recording',
    'dragoman replay recording',
    'dragoman replay recording --until 2 --model anthropic/claude-sonnet-4-5',
  ],
} as const satisfies CliCommandSpec
