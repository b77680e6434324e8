import { HIDDEN_CHARACTER_PATTERN } from '../../../model/security/hidden-characters.ts'

const HIDDEN = new RegExp(HIDDEN_CHARACTER_PATTERN, 'gu')

/** Control characters and characters that reorder others are shown as what they are. Parts of emoji stay. */
export function toVisibleText(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0
    if (code === 0x20_0d || (code >= 0xfe_00 && code <= 0xfe_0f)) return character
    if (code < 0x20) return String.fromCodePoint(0x24_00 + code)
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}

const whole = new Intl.NumberFormat('en')

export function formatWhole(value: number): string {
  return whole.format(Math.round(value))
}

/** At most four digits. */
export function formatCount(value: number | undefined): string {
  if (value === undefined) return ''
  if (value < 10_000) return formatWhole(value)
  if (value < 999_500) return `${trimDecimal(value / 1000)}k`
  return `${trimDecimal(value / 1e6)}M`
}

function trimDecimal(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(1)
}

export function formatBytes(value: number): string {
  if (value < 1000) return `${value} B`
  return value < 1e6 ? `${trimDecimal(value / 1000)} kB` : `${trimDecimal(value / 1e6)} MB`
}

export function formatMs(ms: number | undefined): string {
  if (ms === undefined) return ''
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`
  return `${Math.floor(ms / 60_000)} m ${String(Math.round((ms % 60_000) / 1000)).padStart(2, '0')} s`
}

export function formatCost(dollars: number | undefined): string {
  if (dollars === undefined) return ''
  if (dollars === 0) return '$0'
  if (dollars < 0.0001) return '<$0.0001'
  return `$${dollars < 1 ? dollars.toFixed(4) : dollars.toFixed(2)}`
}

export function formatShare(share: number | undefined): string {
  if (share === undefined) return ''
  return share > 0 && share < 0.005 ? '<1%' : `${Math.round(share * 100)}%`
}

export function formatTime(ms: number): string {
  return new Date(ms).toLocaleTimeString('en-GB', { hour12: false })
}

export function plural(count: number, word: string): string {
  return `${formatWhole(count)} ${word}${count === 1 ? '' : 's'}`
}
