import { wireIds } from '../../../wire/wires.ts'
import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman sessions`. */
export const SESSIONS_COMMAND = {
  usage: ['<list | show | export | reply | rm> [session] [options]'],
  about: ['A session is named by its id, by the beginning of it, or as “latest”.'],
  options: {
    cwd: { takes: '<folder>', from: 'folder', about: 'the folder whose sessions are meant' },
    json: { about: 'list, show --stats and show --cache: as JSON' },
    stats: { about: 'show: counts turns, tools, tokens, cost and time' },
    cache: { about: 'show: says for each request where it differs from the one before' },
    format: {
      takes: '<form>',
      from: ['markdown', 'json', ...wireIds],
      about: `export: markdown, json, or the messages of a wire (${wireIds.join(', ')})`,
    },
    ...HELP_OPTION,
  },
  subcommands: {
    list: {
      about: 'the sessions of this folder, the newest first',
      options: ['cwd', 'json'],
      examples: ['dragoman sessions list', 'dragoman sessions list --json'],
    },
    show: {
      takes: '[session]',
      about: 'what happened in a session; --stats counts it, --cache says why the cache hit or missed',
      options: ['cwd', 'json', 'stats', 'cache'],
      positional: 'session',
      examples: [
        'dragoman sessions show',
        'dragoman sessions show latest --stats',
        'dragoman sessions show --cache --json',
      ],
    },
    export: {
      takes: '[session]',
      about: 'the whole session, in one of several forms',
      options: ['cwd', 'format'],
      positional: 'session',
      examples: [
        'dragoman sessions export latest --format markdown > session.md',
        'dragoman sessions export --format anthropic',
      ],
    },
    reply: {
      takes: '<session> [yes | no] [words]',
      about: 'prints the question that a session was left with, and answers it; --resume then goes on with it',
      options: ['cwd'],
      positional: 'session',
      examples: ['dragoman sessions reply latest yes', 'dragoman sessions reply latest no use the other file'],
    },
    rm: {
      takes: '<session>',
      about: 'removes a session',
      options: ['cwd'],
      positional: 'session',
      examples: ['dragoman sessions rm 20260102-101500-abcdef'],
    },
  },
  examples: [
    'dragoman sessions list',
    'dragoman sessions show latest --stats',
    'dragoman sessions export > session.md',
  ],
} as const satisfies CliCommandSpec
