import { HELP } from '../line/options.ts'
import type { Page } from './page.ts'

/** `dragoman trust`. */
export const TRUST = {
  usage: ['[--yes | --refuse | --forget]'],
  about: ["Without an option: shows what of this folder's settings could run something or send something elsewhere."],
  options: {
    yes: { about: 'trusts them as they are now; when they change, you are asked again' },
    refuse: { about: 'never uses them' },
    forget: { about: 'as if you had never been asked' },
    ...HELP,
  },
  examples: ['dragoman trust', 'dragoman trust --yes'],
} as const satisfies Page
