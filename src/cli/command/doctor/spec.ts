import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman doctor`. */
export const DOCTOR_COMMAND = {
  usage: ['[provider/model] [options]', '--list', '--local'],
  about: [
    'Asks a model for thirty behaviours that an agent relies on, looks at every byte of its answers, and says what it found. It costs some ten thousand tokens. The exit code is 0 only if tools can be used with it.',
  ],
  options: {
    json: { about: 'the report as JSON' },
    'write-profile': { about: 'keeps the flags that were found out, so that the next run uses them' },
    'max-tokens': { takes: '<n>', about: 'stop asking after so many tokens (80000)' },
    answer: { takes: '<n>', about: 'at most so many tokens an answer (2000): less is quicker on slow machines' },
    timeout: { takes: '<s>', about: 'how long to wait for one answer, in seconds' },
    list: { about: 'the behaviours, and nothing is asked' },
    local: {
      about: 'what is in force on this machine: the sandbox, the programs that are used, settings, keys, trust',
    },
    ...HELP_OPTION,
  },
  positional: 'model',
  takesRunOptions: true,
  examples: [
    'dragoman doctor rehearsal/patient',
    'dragoman doctor ollama/qwen3 --write-profile',
    'dragoman doctor --local',
  ],
} as const satisfies CliCommandSpec
