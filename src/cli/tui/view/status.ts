import { clipLine, type StyledLine, lineWidth, type StyledSpan } from '../term/styled-line.ts'
import type { StatusInfo } from '../ui-state.ts'

/** The last line. If there is little room, the last parts are left out. */
export function renderStatusLine(status: StatusInfo, width: number): StyledLine {
  if (status.custom !== undefined) return clipLine([{ text: status.custom, tone: 'quiet' }], width)
  const parts = [
    [{ text: status.model, tone: 'accent' }],
    renderMode(status),
    status.sandbox === undefined ? [] : [{ text: status.sandbox }],
    renderContext(status),
    !status.cost ? [] : [{ text: `$${status.cost.toFixed(status.cost < 1 ? 3 : 2)}` }],
    toPercent(status.cached) === 0 ? [] : [{ text: `cache ${toPercent(status.cached)}%` }],
    status.branch === undefined ? [] : [{ text: `⎇ ${status.branch}` }],
    [{ text: status.folder }],
  ].filter((part) => part.length > 0) as StyledSpan[][]
  let shown = parts
  while (shown.length > 1 && lineWidth(joinParts(shown)) > width) shown = shown.slice(0, -1)
  return clipLine(joinParts(shown), width)
}

function toPercent(cached = 0): number {
  return Math.round(cached * 100)
}

function joinParts(parts: readonly StyledSpan[][]): StyledLine {
  return parts.flatMap((part, at) => {
    const toned = part.map(({ text, tone = 'quiet' }) => ({ text, tone }))
    return at === 0 ? toned : [{ text: ' · ', tone: 'quiet' as const }, ...toned]
  })
}

const MODE_TONES = { default: 'quiet', auto_edit: 'warn', yolo: 'bad', plan: 'good' } as const

function renderMode(status: StatusInfo): StyledSpan[] {
  return [{ text: `${status.mode} mode`, tone: MODE_TONES[status.mode] }]
}

function renderContext({ context: used, window }: StatusInfo): StyledSpan[] {
  if (used === undefined) return []
  const tokens = used >= 1000 ? `${(used / 1000).toFixed(used >= 10_000 ? 0 : 1)}k` : String(used)
  if (window === undefined) return [{ text: `${tokens} tokens` }]
  const share = used / window
  return [{ text: `${Math.round(share * 100)}% (${tokens})`, ...(share > 0.8 && { tone: 'warn' as const }) }]
}
