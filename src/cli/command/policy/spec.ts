import { HELP_OPTION, RUN_OPTIONS } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const POLICY_COMMAND = {
  summary: 'test permission rules and explain decisions',
  usage: ['check [file] [options]', 'explain <call> [options]'],
  about: [
    'A call is written like a rule, write_file(src/a.ts), or is a shell command. A case is one JSON object per line, for example {"id":"1","kind":"shell","command":"git status"}; docs/permissions.md describes the other kinds.',
  ],
  options: {
    rules: {
      takes: '<file>',
      from: 'file',
      about: 'check: use only these rules, {"allow":[…],"ask":[…],"deny":[…]}',
    },
    json: { about: 'print JSON lines' },
    cwd: { takes: '<folder>', from: 'folder', about: 'the workspace' },
    tool: {
      takes: '<name>',
      from: 'tool',
      about: 'explain: the tool, if the call is given as its path, command or URL alone',
    },
    'approval-mode': {
      takes: '<mode>',
      from: RUN_OPTIONS['approval-mode'].from,
      about: 'explain: the mode to explain; default: default',
    },
    ...HELP_OPTION,
  },
  subcommands: {
    check: {
      takes: '[file]',
      about:
        'check cases from a file or standard input, and print one line for each: the verdict, the rule that decided, and why',
      options: ['rules', 'json', 'cwd'],
      positional: 'file',
      examples: [
        `echo '{"id":"1","kind":"shell","command":"ls"}' | dragoman policy check`,
        'dragoman policy check cases.jsonl --rules rules.json --json',
      ],
    },
    explain: {
      takes: '<call>',
      about: 'explain what would happen to a call, in every mode',
      options: ['json', 'cwd', 'tool', 'approval-mode'],
      examples: [
        "dragoman policy explain 'rm -rf build'",
        'dragoman policy explain --tool write_file .vscode/tasks.json',
      ],
    },
  },
} as const satisfies CliCommandSpec
