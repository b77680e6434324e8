import type { TurnEvent } from '../../model/event.ts'
import { isKeyLike, type Redactor, createRedactor } from '../../model/security/redactor.ts'

/** Removes the API key of the request from its response; one event may become two. */
export interface KeyRedactor {
  readonly setKey: (key: string) => void
  readonly redact: (event: TurnEvent) => TurnEvent[]
}

/** Servers repeat the key in errors, and some in text. The arguments of calls are never altered. */
export function createKeyRedactor(): KeyRedactor {
  const secrets = createRedactor()
  let key = ''
  const textParts = new Set<number>()
  /** The end of a part's text, if it could be the start of the key. */
  const heldBack = new Map<number, string>()

  function delta(index: number, text: string): TurnEvent[] {
    const whole = (heldBack.get(index) ?? '') + text
    if (!whole.includes(key.charAt(0)) || !textParts.has(index)) return [{ type: 'part-delta', index, text: whole }]
    const clean = whole.replaceAll(key, '[key]')
    const end = findPossibleKeyStart(clean, key)
    heldBack.set(index, clean.slice(end))
    return end === 0 ? [] : [{ type: 'part-delta', index, text: clean.slice(0, end) }]
  }

  return {
    setKey(secret) {
      secrets.addSecret(secret)
      key = isKeyLike(secret) ? secret : ''
    },
    redact(event) {
      if (event.type === 'warn' || event.type === 'finish') return [redactMessages(event, key, secrets)]
      if (key === '') return [event]
      if (event.type === 'part-delta') {
        const clean = delta(event.index, event.text)
        return clean.length === 1 && clean[0]?.type === 'part-delta' && clean[0].text === event.text ? [event] : clean
      }
      if (event.type === 'part-open') {
        if (event.kind === 'text' || event.kind === 'reasoning') textParts.add(event.index)
        return [event]
      }
      if (event.type !== 'part-close') return [event]
      const { index, part } = event
      const rest = heldBack.get(index) ?? ''
      const last: TurnEvent[] = rest === '' ? [] : [{ type: 'part-delta', index, text: rest }]
      const containsKey = (part.kind === 'text' || part.kind === 'reasoning') && part.text.includes(key)
      return [...last, containsKey ? { ...event, part: { ...part, text: part.text.replaceAll(key, '[key]') } } : event]
    },
  }
}

/** The index at which a prefix of the key may start, at the end of the text. */
function findPossibleKeyStart(text: string, key: string): number {
  const first = key.charAt(0)
  for (
    let at = text.indexOf(first, Math.max(0, text.length - key.length + 1));
    at >= 0;
    at = text.indexOf(first, at + 1)
  )
    if (key.startsWith(text.slice(at))) return at
  return text.length
}

type MessageTurnEvent = Extract<TurnEvent, { type: 'warn' | 'finish' }>

/** Messages lose everything that looks like a secret, other fields only the key. */
function redactMessages(event: MessageTurnEvent, key: string, { redact }: Redactor): TurnEvent {
  const escapedKey = JSON.stringify(key).slice(1, -1)
  const text = JSON.stringify(event)
  const redacted =
    key !== '' && text.includes(escapedKey)
      ? (JSON.parse(text.replaceAll(escapedKey, '[key]')) as MessageTurnEvent)
      : event
  if (redacted.type === 'warn')
    return { ...redacted, warning: { ...redacted.warning, message: redact(redacted.warning.message) } }
  return redacted.fault
    ? { ...redacted, fault: { ...redacted.fault, message: redact(redacted.fault.message) } }
    : redacted
}
