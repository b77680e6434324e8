import type { TextTone } from './styled-line.ts'

/** `none` has only weights, for NO_COLOR. */
export type ThemeName = 'dark' | 'light' | 'none'

/** The SGR parameters of each tone. Only the sixteen basic colours, which the user has chosen in the terminal. */
export type Theme = Readonly<Record<TextTone, string>>

const DARK: Theme = {
  plain: '',
  strong: '1',
  emphasis: '3',
  quiet: '90',
  accent: '36',
  user: '1;36',
  good: '32',
  bad: '31',
  warn: '33',
  added: '32',
  removed: '31',
  code: '36',
  keyword: '35',
  string: '32',
  number: '33',
  comment: '90',
  name: '34',
  heading: '1;36',
  link: '4;34',
}

const BLUE_ON_LIGHT = { accent: '34', user: '1;34', code: '34', heading: '1;34' }
const DIM_ON_LIGHT = { quiet: '2', comment: '2' }
const WEIGHTS = { strong: '1', emphasis: '3', user: '1', bad: '1', warn: '1', heading: '1', link: '4' }

export const THEMES: Readonly<Record<ThemeName, Theme>> = {
  dark: DARK,
  light: { ...DARK, ...BLUE_ON_LIGHT, ...DIM_ON_LIGHT, warn: '35', number: '31' },
  none: { ...(Object.fromEntries(Object.keys(DARK).map((tone) => [tone, ''])) as Theme), ...WEIGHTS },
}

/** The theme for this terminal: no colours if the user wants none, light if the terminal says so. */
export function resolveTheme(requested: 'auto' | ThemeName, env: NodeJS.ProcessEnv): ThemeName {
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return 'none'
  if (env['TERM'] === 'dumb') return 'none'
  if (requested !== 'auto') return requested
  // Set by several terminals: foreground;background, as palette numbers.
  const background = Number(/;(\d+)$/.exec(env['COLORFGBG'] ?? '')?.[1] ?? Number.NaN)
  return background === 7 || background === 15 ? 'light' : 'dark'
}
