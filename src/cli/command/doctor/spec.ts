import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const DOCTOR_COMMAND = {
  summary: "test a model's tool calling; with --local, check this machine",
  usage: ['[provider/model] [options]', '--list', '--local'],
  about: [
    'Tests the behaviours of a model endpoint that an agent relies on, and reports what it found (--list shows the tests). It uses about ten thousand tokens. The exit code is 0 only if tools can be used with the model.',
  ],
  options: {
    json: { about: 'print the report as JSON' },
    'write-profile': { about: 'save the detected capabilities, so that later runs use them' },
    'max-tokens': { takes: '<n>', about: 'send no more requests after this many tokens; default 80000' },
    answer: { takes: '<n>', about: 'maximum tokens of one response; default 2000; fewer are faster on slow machines' },
    timeout: { takes: '<s>', about: 'seconds to wait for one response' },
    list: { about: 'list the tests without running them' },
    local: { about: 'show what is in effect on this machine: sandbox, programs, settings, keys, trust' },
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
