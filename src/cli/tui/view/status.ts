import { cut, type Line, lineWidth, type Span } from '../term/line.ts'
import type { Status } from '../state.ts'

/** The last line: model, mode, sandbox, context, cost, cache, branch. Where there is little room, the less important goes. */
export function statusLine(status: Status, width: number): Line {
  const parts = [
    [{ text: status.model, tone: 'accent' }],
    mode(status),
    status.sandbox === undefined ? [] : [{ text: status.sandbox }],
    context(status),
    !status.cost ? [] : [{ text: `$${status.cost.toFixed(status.cost < 1 ? 3 : 2)}` }],
    percent(status.cached) === 0 ? [] : [{ text: `cache ${percent(status.cached)}%` }],
    status.branch === undefined ? [] : [{ text: `⎇ ${status.branch}` }],
    [{ text: status.folder }],
  ].filter((part) => part.length > 0) as Span[][]
  let shown = parts
  while (shown.length > 1 && lineWidth(joined(shown)) > width) shown = shown.slice(0, -1)
  return cut(joined(shown), width)
}

/** In percent. Many servers have no cache, and none of it says nothing. */
function percent(cached = 0): number {
  return Math.round(cached * 100)
}

function joined(parts: readonly Span[][]): Line {
  return parts.flatMap((part, at) => {
    const toned = part.map(({ text, tone = 'quiet' }) => ({ text, tone }))
    return at === 0 ? toned : [{ text: ' · ', tone: 'quiet' as const }, ...toned]
  })
}

const TONES = { default: 'quiet', auto_edit: 'warn', yolo: 'bad', plan: 'good' } as const

function mode(status: Status): Span[] {
  return [{ text: `${status.mode} mode`, tone: TONES[status.mode] }]
}

function context({ context: used, window }: Status): Span[] {
  if (used === undefined) return []
  const tokens = used >= 1000 ? `${(used / 1000).toFixed(used >= 10_000 ? 0 : 1)}k` : String(used)
  if (window === undefined) return [{ text: `${tokens} tokens` }]
  const share = used / window
  return [{ text: `${Math.round(share * 100)}% (${tokens})`, ...(share > 0.8 && { tone: 'warn' as const }) }]
}
