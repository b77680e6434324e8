import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const MODELS_COMMAND = {
  summary: 'list the available models with context window and price',
  usage: ['[provider] [--json]'],
  about: [
    'Lists the available models with context window and price, and why the others are not available: which key is missing, which local server does not answer. With a provider, the provider is asked for its list; without one, only servers on this machine are asked.',
  ],
  options: { json: { about: 'print JSON' }, ...HELP_OPTION },
  positional: 'provider',
  examples: ['dragoman models', 'dragoman models openrouter --json'],
} as const satisfies CliCommandSpec
