import { updateUserConfig } from '../../config/update-settings.ts'
import type { AppParts } from '../app-parts.ts'
import { THEMES, type ThemeName } from '../term/theme.ts'

export const THEME_CHOICES = Object.keys(THEMES) as ThemeName[]

export function changeTheme({ ui }: AppParts, word: string): void {
  const theme = THEME_CHOICES.find((one) => one === word)
  if (!theme) return ui.notify(`Unknown theme; use one of ${THEME_CHOICES.join(', ')}.`, 'warn')
  ui.setTheme(theme)
  updateUserConfig((config) => ({ ...config, theme }))
  ui.notify(`The theme is now ${theme}; saved in your settings.`)
}

export function toggleVim({ ui }: AppParts): void {
  const isOn = ui.state.vim !== undefined
  ui.update(({ vim: _unused, ...state }) => (isOn ? state : { ...state, vim: 'insert' }))
  ui.notify(isOn ? 'Vim keys are off.' : 'Vim keys are on; Esc leaves insert mode.')
}
