import { FOREIGN_AGENTS, type ForeignAgent } from '../../../session/import/foreign-session.ts'
import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

const AGENTS = Object.keys(FOREIGN_AGENTS) as [ForeignAgent, ...ForeignAgent[]]

export const IMPORT_COMMAND = {
  summary: 'import the sessions of Claude Code, Codex, Gemini CLI, opencode and pi',
  usage: ['session [file | id | latest] [options]'],
  about: [
    'A session of another agent is copied, repaired where it is damaged, and can be continued with any model. The original is only read. None of its calls runs again, and its messages give no permissions.',
  ],
  options: {
    from: { takes: '<agent>', from: AGENTS, about: 'session: only sessions of this agent' },
    list: { about: 'session: list the sessions that are found, newest first' },
    all: { about: 'session: also those of other folders' },
    cwd: { takes: '<folder>', from: 'folder', about: 'import into the sessions of this folder' },
    json: { about: 'session: print JSON' },
    ...HELP_OPTION,
  },
  subcommands: {
    session: {
      takes: '[file | id | latest]',
      about:
        'import a session from its file, or by its id; without one, choose it from a list. opencode: also the output of “opencode export”',
      options: ['from', 'list', 'all', 'cwd', 'json'],
      positional: 'file',
      examples: [
        'dragoman import session',
        'dragoman import session --list --from claude',
        'dragoman import session latest --from codex',
        'dragoman import session ~/.claude/projects/-home-ann-app/0a1b2c3d.jsonl',
      ],
    },
  },
} as const satisfies CliCommandSpec
