import {
  close,
  exportRecording,
  getSessionKey,
  isHelpOpen,
  isSidebarOpen,
  isWide,
  move,
  open,
  openId,
  searchText,
  selectedId,
  sessionFilter,
  setSearch,
  shown,
  tab,
  TABS,
} from './store.ts'
import { switchTheme } from './theme.ts'

export const KEYS: readonly (readonly [keys: string, about: string])[] = [
  ['j  ↓', 'next request'],
  ['k  ↑', 'previous request'],
  ['g  G', 'first, last request'],
  ['Enter', 'open the request'],
  ['Esc', 'close, or clear the search'],
  ['1 – 6', 'view of the open request'],
  ['h  l', 'previous, next view'],
  ['f', 'full width'],
  ['/', 'search'],
  ['s', 'only this session, or all'],
  ['e', 'export the shown requests'],
  ['t', 'theme: system, light, dark'],
  ['?', 'this help'],
]

export function handleKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const { target } = event
  const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement
  if (event.key === 'Escape') return handleEscape(event)
  if (isTyping) {
    if (event.key === 'Enter' && target.id === 'search') target.blur()
    return
  }
  // A button that has the focus is pressed by Enter.
  if (event.key === 'Enter' && target instanceof HTMLButtonElement) return
  const action = ACTIONS.get(event.key) ?? chooseTab(event.key)
  if (!action) return
  event.preventDefault()
  action()
}

function handleEscape(event: KeyboardEvent): void {
  const { target } = event
  if (target instanceof HTMLInputElement && target.id === 'search') {
    if (searchText.value !== '') setSearch('')
    target.blur()
  } else if (isHelpOpen.value) isHelpOpen.value = false
  else if (isSidebarOpen.value) isSidebarOpen.value = false
  else if (openId.value !== undefined) close()
  else if (searchText.value !== '') setSearch('')
  else sessionFilter.value = undefined
}

const ACTIONS: ReadonlyMap<string, () => void> = new Map<string, () => void>([
  ['j', () => move(1)],
  ['ArrowDown', () => move(1)],
  ['k', () => move(-1)],
  ['ArrowUp', () => move(-1)],
  ['g', () => move(-Infinity)],
  ['G', () => move(Infinity)],
  ['Enter', () => selectedId.value !== undefined && open(selectedId.value)],
  ['/', () => document.querySelector<HTMLInputElement>('#search')?.focus()],
  ['?', () => void (isHelpOpen.value = !isHelpOpen.value)],
  ['t', switchTheme],
  ['f', () => void (isWide.value = openId.value !== undefined && !isWide.value)],
  ['h', () => moveTab(-1)],
  ['l', () => moveTab(1)],
  ['s', toggleSession],
  ['e', () => void exportRecording(shown.value.map(({ id }) => id).toReversed())],
])

function chooseTab(key: string): (() => void) | undefined {
  const chosen = /^[1-9]$/.test(key) ? TABS[Number(key) - 1] : undefined
  return chosen && openId.value !== undefined ? () => void (tab.value = chosen) : undefined
}

function moveTab(by: number): void {
  if (openId.value === undefined) return
  tab.value = TABS[(TABS.indexOf(tab.value) + by + TABS.length) % TABS.length] ?? 'Overview'
}

function toggleSession(): void {
  const selected = shown.value.find(({ id }) => id === selectedId.value)
  sessionFilter.value = sessionFilter.value === undefined && selected ? getSessionKey(selected) : undefined
}
