import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman models`. */
export const MODELS_COMMAND = {
  usage: ['[provider] [--json]'],
  about: [
    'Lists the models that can be used here and now, with what they take in and cost, and says why the others cannot: which key is missing, which local server does not answer. With the name of a provider that can be used, it asks the provider for its list; without one, only servers on this machine are asked.',
  ],
  options: { json: { about: 'as JSON' }, ...HELP_OPTION },
  positional: 'provider',
  examples: ['dragoman models', 'dragoman models openrouter --json'],
} as const satisfies CliCommandSpec
