import type { TurnEvent } from '../../model/event.ts'
import type { Json } from '../../model/json.ts'
import type { NativeData } from '../../model/turn.ts'
import { isKeyLike, type Redactor, createRedactor } from '../../model/security/redactor.ts'

export type KeyRedactor = ReturnType<typeof createKeyRedactor>

/** Servers repeat the key in errors, and some in text. The arguments of calls are never altered. */
export function createKeyRedactor() {
  const secrets = createRedactor()
  let key = ''
  const textParts = new Set<number>()
  /** The end of a part's text, if it could be the start of the key. */
  const heldBack = new Map<number, string>()

  function delta(event: Extract<TurnEvent, { type: 'part-delta' }>): TurnEvent[] {
    const { index, text } = event
    const whole = (heldBack.get(index) ?? '') + text
    // Text that is held back starts with the first character of the key.
    if (!whole.includes(key.charAt(0)) || !textParts.has(index)) return [event]
    const clean = whole.replaceAll(key, '[key]')
    const end = findPossibleKeyStart(clean, key)
    heldBack.set(index, clean.slice(end))
    return end === 0 ? [] : [{ ...event, text: clean.slice(0, end) }]
  }

  function close(event: Extract<TurnEvent, { type: 'part-close' }>): TurnEvent[] {
    const { index, part } = event
    const rest = heldBack.get(index) ?? ''
    const last: TurnEvent[] = rest === '' ? [] : [{ type: 'part-delta', index, kind: part.kind, text: rest }]
    const containsKey = (part.kind === 'text' || part.kind === 'reasoning') && part.text.includes(key)
    const clean = containsKey ? { ...part, text: part.text.replaceAll(key, '[key]') } : part
    return [...last, { ...event, part: redactNative(clean, key) }]
  }

  return {
    setKey(secret: string): void {
      secrets.addSecret(secret)
      key = isKeyLike(secret) ? secret : ''
    },
    /** One event may become two. */
    redact(event: TurnEvent): TurnEvent[] {
      switch (event.type) {
        case 'warn':
        case 'finish':
          return [redactMessages(event, key, secrets)]
        case 'part-open':
          if (event.kind === 'text' || event.kind === 'reasoning') textParts.add(event.index)
          return [redactNative(event, key)]
        case 'part-delta':
          return key === '' ? [event] : delta(event)
        case 'part-close':
          return key === '' ? [event] : close(event)
        case 'open':
        case 'wait':
        case 'usage':
          return [event]
        default:
          return event satisfies never
      }
    },
  }
}

/** A server may repeat the key in fields that nobody reads. */
function redactNative<T extends { readonly native?: NativeData }>(holder: T, key: string): T {
  if (holder.native?.data === undefined || key === '') return holder
  const escapedKey = JSON.stringify(key).slice(1, -1)
  const text = JSON.stringify(holder.native.data)
  if (!text.includes(escapedKey)) return holder
  return { ...holder, native: { ...holder.native, data: JSON.parse(text.replaceAll(escapedKey, '[key]')) as Json } }
}

/** The index at which a prefix of the key may start, at the end of the text. */
function findPossibleKeyStart(text: string, key: string): number {
  const first = key.charAt(0)
  let at = text.indexOf(first, Math.max(0, text.length - key.length + 1))
  while (at >= 0 && !key.startsWith(text.slice(at))) at = text.indexOf(first, at + 1)
  return at < 0 ? text.length : at
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
