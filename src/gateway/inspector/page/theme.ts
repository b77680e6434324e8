import { signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const THEME_KEY = 'dragoman-theme'
const ORDER: readonly Theme[] = ['system', 'light', 'dark']

export const theme = signal<Theme>(readTheme())

function readTheme(): Theme {
  const stored = localStorage.getItem(THEME_KEY)
  return ORDER.find((one) => one === stored) ?? 'system'
}

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.value
}

export function switchTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? 'system'
  localStorage.setItem(THEME_KEY, theme.value)
  applyTheme()
}
