import { HELP_OPTION, RUN_OPTIONS } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman policy`. */
export const POLICY_COMMAND = {
  usage: ['check [file] [options]', 'explain <call> [options]'],
  about: [
    'A call is written like a rule, write_file(src/a.ts), or is a command for the shell. A case is one JSON object a line, for example {"id":"1","kind":"shell","command":"git status"}; docs/permissions.md tells of the other kinds.',
  ],
  options: {
    rules: {
      takes: '<file>',
      from: 'file',
      about: 'check: these rules and no others, {"allow":[…],"ask":[…],"deny":[…]}',
    },
    json: { about: 'answers as JSON lines' },
    cwd: { takes: '<folder>', from: 'folder', about: 'the workspace' },
    tool: {
      takes: '<name>',
      from: 'tool',
      about: 'explain: the tool, when the call is given as its path, command or address alone',
    },
    'approval-mode': {
      takes: '<mode>',
      from: RUN_OPTIONS['approval-mode'].from,
      about: 'explain: the mode to explain; default if not said',
    },
    ...HELP_OPTION,
  },
  subcommands: {
    check: {
      takes: '[file]',
      about:
        'judges cases, from a file or from standard input, and answers each with a line: the verdict, the rule that decided, and why',
      options: ['rules', 'json', 'cwd'],
      positional: 'file',
      examples: [
        `echo '{"id":"1","kind":"shell","command":"ls"}' | dragoman policy check`,
        'dragoman policy check cases.jsonl --rules rules.json --json',
      ],
    },
    explain: {
      takes: '<call>',
      about: 'says in words what would happen to a call, in every mode',
      options: ['json', 'cwd', 'tool', 'approval-mode'],
      examples: [
        "dragoman policy explain 'rm -rf build'",
        'dragoman policy explain --tool write_file .vscode/tasks.json',
      ],
    },
  },
  examples: [
    "dragoman policy explain 'rm -rf build'",
    'dragoman policy explain --tool write_file .vscode/tasks.json',
    `echo '{"id":"1","kind":"shell","command":"ls"}' | dragoman policy check`,
  ],
} as const satisfies CliCommandSpec
