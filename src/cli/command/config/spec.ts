import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman config`. */
export const CONFIG_COMMAND = {
  usage: ['[show | path | schema]'],
  about: ['Says what is settled, and where. docs/configuration.md lists all settings.'],
  options: HELP_OPTION,
  subcommands: {
    show: {
      about: 'the settings that hold in this folder, and the files that they are from (the default)',
      examples: ['dragoman config show'],
    },
    path: { about: 'where the settings are read from', examples: ['dragoman config path'] },
    schema: {
      about: 'the JSON Schema of a config file, for your editor',
      examples: ['dragoman config schema > dragoman.schema.json'],
    },
  },
  examples: ['dragoman config', 'dragoman config path', 'dragoman config schema > dragoman.schema.json'],
} as const satisfies CliCommandSpec
