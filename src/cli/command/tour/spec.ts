import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const TOUR_COMMAND = {
  summary: 'try a scripted demo without a key or network',
  usage: ['[--yes]'],
  about: [
    'A scripted model fixes a failing test in a scratch project, without a key or network. Only the model is scripted: the HTTP, the approvals, the tools and the log are real.',
  ],
  options: { yes: { about: 'do not ask' }, ...HELP_OPTION },
  examples: ['dragoman tour', 'dragoman tour --yes'],
} as const satisfies CliCommandSpec
