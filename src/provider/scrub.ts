import type { TurnEvent } from '../model/event.ts'
import { isKeyLike, type Redactor, redactor } from '../model/secret.ts'

/** Takes the key with which we asked out of what comes back; one event may become two. */
export interface Scrub {
  readonly learn: (key: string) => void
  readonly pass: (event: TurnEvent) => TurnEvent[]
}

/**
 * Starts a scrub for one answer. Servers repeat the key in their errors, and some in their text; it goes no further. The
 * arguments of calls are left as they are: what a model calls is never altered.
 */
export function startScrub(): Scrub {
  const secrets = redactor()
  let key = ''
  const prose = new Set<number>()
  /** The end of what was said in a part, where it could be the beginning of the key. */
  const held = new Map<number, string>()

  function delta(index: number, text: string): TurnEvent[] {
    const whole = (held.get(index) ?? '') + text
    if (!whole.includes(key.charAt(0)) || !prose.has(index)) return [{ type: 'part-delta', index, text: whole }]
    const clean = whole.replaceAll(key, '[key]')
    const end = suspiciousEnd(clean, key)
    held.set(index, clean.slice(end))
    return end === 0 ? [] : [{ type: 'part-delta', index, text: clean.slice(0, end) }]
  }

  return {
    learn(secret) {
      secrets.learn(secret)
      key = isKeyLike(secret) ? secret : ''
    },
    pass(event) {
      if (event.type === 'warn' || event.type === 'finish') return [without(event, key, secrets)]
      if (key === '') return [event]
      if (event.type === 'part-delta') {
        const clean = delta(event.index, event.text)
        return clean.length === 1 && clean[0]?.type === 'part-delta' && clean[0].text === event.text ? [event] : clean
      }
      if (event.type === 'part-open') {
        if (event.kind === 'text' || event.kind === 'reasoning') prose.add(event.index)
        return [event]
      }
      if (event.type !== 'part-close') return [event]
      const { index, part } = event
      const rest = held.get(index) ?? ''
      const last: TurnEvent[] = rest === '' ? [] : [{ type: 'part-delta', index, text: rest }]
      const spoken = (part.kind === 'text' || part.kind === 'reasoning') && part.text.includes(key)
      return [...last, spoken ? { ...event, part: { ...part, text: part.text.replaceAll(key, '[key]') } } : event]
    },
  }
}

/** Where the end begins that could be the beginning of the key. */
function suspiciousEnd(text: string, key: string): number {
  const first = key.charAt(0)
  for (
    let at = text.indexOf(first, Math.max(0, text.length - key.length + 1));
    at >= 0;
    at = text.indexOf(first, at + 1)
  )
    if (key.startsWith(text.slice(at))) return at
  return text.length
}

type Told = Extract<TurnEvent, { type: 'warn' | 'finish' }>

/** Sentences lose whatever looks like a secret; all else loses only the key. */
function without(event: Told, key: string, { clean }: Redactor): TurnEvent {
  const written = JSON.stringify(key).slice(1, -1)
  const text = JSON.stringify(event)
  const bare = key !== '' && text.includes(written) ? (JSON.parse(text.replaceAll(written, '[key]')) as Told) : event
  if (bare.type === 'warn') return { ...bare, warning: { ...bare.warning, message: clean(bare.warning.message) } }
  return bare.fault ? { ...bare, fault: { ...bare.fault, message: clean(bare.fault.message) } } : bare
}
