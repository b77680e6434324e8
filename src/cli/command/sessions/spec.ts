import { wireIds } from '../../../wire/wires.ts'
import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const SESSIONS_COMMAND = {
  summary: 'list, show, export, answer and remove sessions',
  usage: ['<list | show | export | reply | rm> [session] [options]'],
  about: ['A session is named by its id, by the beginning of its id, or as “latest”.'],
  options: {
    cwd: { takes: '<folder>', from: 'folder', about: 'use the sessions of this folder' },
    json: { about: 'list, show --stats and show --cache: print JSON' },
    stats: { about: 'show: turns, tools, tokens, cost and time' },
    cache: { about: 'show: where each request differs from the previous one' },
    format: {
      takes: '<format>',
      from: ['markdown', 'json', ...wireIds],
      about: `export: markdown, json, or the messages of an API (${wireIds.join(', ')})`,
    },
    ...HELP_OPTION,
  },
  subcommands: {
    list: {
      about: 'list the sessions of this folder, newest first',
      options: ['cwd', 'json'],
      examples: ['dragoman sessions list', 'dragoman sessions list --json'],
    },
    show: {
      takes: '[session]',
      about: 'show a session; --stats: its statistics; --cache: why the cache hit or missed',
      options: ['cwd', 'json', 'stats', 'cache'],
      positional: 'session',
      examples: [
        'dragoman sessions show latest --stats',
        'dragoman sessions show',
        'dragoman sessions show --cache --json',
      ],
    },
    export: {
      takes: '[session]',
      about: 'print the whole session in another format',
      options: ['cwd', 'format'],
      positional: 'session',
      examples: [
        'dragoman sessions export latest --format markdown > session.md',
        'dragoman sessions export --format anthropic',
      ],
    },
    reply: {
      takes: '<session> [yes | no] [words]',
      about: 'show the open approval of a session and answer it; continue the session with --resume',
      options: ['cwd'],
      positional: 'session',
      examples: ['dragoman sessions reply latest yes', 'dragoman sessions reply latest no use the other file'],
    },
    rm: {
      takes: '<session>',
      about: 'remove a session',
      options: ['cwd'],
      positional: 'session',
      examples: ['dragoman sessions rm 20260102-101500-abcdef'],
    },
  },
} as const satisfies CliCommandSpec
