import { HELP } from '../line/options.ts'
import type { Page } from './page.ts'

/** `dragoman tour`. */
export const TOUR = {
  usage: ['[--yes]'],
  about: [
    'A scripted tour of what Dragoman does, with no key and no network: a scripted model mends a failing test in a scratch project. The script is a script; the HTTP, the approvals, the tools and the log are real.',
  ],
  options: { yes: { about: 'asks nothing' }, ...HELP },
  examples: ['dragoman tour', 'dragoman tour --yes'],
} as const satisfies Page
