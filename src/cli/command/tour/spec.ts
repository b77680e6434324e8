import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman tour`. */
export const TOUR_COMMAND = {
  usage: ['[--yes]'],
  about: [
    'A scripted tour of what Dragoman does, with no key and no network: a scripted model mends a failing test in a scratch project. The script is a script; the HTTP, the approvals, the tools and the log are real.',
  ],
  options: { yes: { about: 'asks nothing' }, ...HELP_OPTION },
  examples: ['dragoman tour', 'dragoman tour --yes'],
} as const satisfies CliCommandSpec
