import { FOREIGN_AGENTS, type ForeignAgent } from '../../../session/import/foreign-session.ts'
import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

const AGENTS = Object.keys(FOREIGN_AGENTS) as [ForeignAgent, ...ForeignAgent[]]

export const IMPORT_COMMAND = {
  summary: 'import the settings and sessions of Claude Code, Codex, Gemini CLI, opencode and pi',
  usage: ['[claude | codex | gemini | opencode] [--yes]', 'session [file | id | latest] [options]'],
  about: [
    'Lists the MCP servers, permissions, settings and commands of another agent, and what is not supported; then imports them, if you agree. Without a name: of all four. Nothing of yours is overwritten.',
    'A session of another agent is copied, repaired where it is damaged, and can be continued with any model. The original is only read. None of its calls runs again, and its messages give no permissions.',
  ],
  options: {
    from: { takes: '<agent>', from: AGENTS, about: 'session: only sessions of this agent' },
    list: { about: 'session: list the sessions that are found, newest first' },
    all: { about: 'session: also those of other folders' },
    cwd: { takes: '<folder>', from: 'folder', about: 'import for this folder' },
    json: { about: 'print JSON' },
    yes: { about: 'settings: import without a question, and trust the files of this project that are listed' },
    ...HELP_OPTION,
  },
  subcommands: {
    claude: {
      about: 'the settings of Claude Code',
      options: ['yes', 'cwd', 'json'],
      examples: ['dragoman import claude', 'dragoman import claude --yes'],
    },
    codex: {
      about: 'the settings of Codex',
      options: ['yes', 'cwd', 'json'],
      examples: ['dragoman import codex'],
    },
    gemini: {
      about: 'the settings of Gemini CLI',
      options: ['yes', 'cwd', 'json'],
      examples: ['dragoman import gemini'],
    },
    opencode: {
      about: 'the settings of opencode',
      options: ['yes', 'cwd', 'json'],
      examples: ['dragoman import opencode'],
    },
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
