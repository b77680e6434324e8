import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const CONFIG_COMMAND = {
  summary: 'show the settings and where they come from',
  usage: ['[show | path | schema]'],
  about: ['Shows the settings and where they come from. docs/configuration.md lists all settings.'],
  options: HELP_OPTION,
  subcommands: {
    show: {
      about: 'show the settings in effect in this folder and their files (the default)',
      examples: ['dragoman config show'],
    },
    path: { about: 'show the paths of the settings files', examples: ['dragoman config path'] },
    schema: {
      about: 'print the JSON Schema of a settings file, for your editor',
      examples: ['dragoman config schema > dragoman.schema.json'],
    },
  },
} as const satisfies CliCommandSpec
