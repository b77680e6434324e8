import { toCanonicalJson } from '../../model/json.ts'
import type { CallPart } from '../../model/turn.ts'
import type { PendingCall } from './call-assembler.ts'

/** Tells whether a call of a turn is a transmission repeat of an earlier one, and not a second call (T11, T21). */
export function createDuplicateDetector(): (pendingCall: PendingCall, parts: readonly CallPart[]) => boolean {
  const contents = new Map<string, number>()
  const seenKeys = new Set<string>()

  return (pendingCall, parts) => {
    if (parts.some((part) => part.flaw)) return false
    const text = toCanonicalJson(parts.map(({ name, input }) => [name, input]))
    const content = contents.get(text) ?? contents.size
    contents.set(text, content)
    if (listLookupKeys(pendingCall).some((key) => seenKeys.has(`${content} ${key}`))) return true
    for (const key of listIdentityKeys(pendingCall)) seenKeys.add(`${content} ${key}`)
    return false
  }
}

/** The keys under which a call is stored: its ids, its index, and `anywhere` if the wire did not separate it. */
function listIdentityKeys({ ids, wireIndex, isSeparate }: PendingCall): string[] {
  const kind = ids.size > 0 ? 'id' : 'no id'
  return [
    ...[...ids].map((id) => `id ${id}`),
    ...(wireIndex === undefined ? [] : [`${kind}, at ${wireIndex}`]),
    ...(isSeparate ? [] : [`${kind}, anywhere`]),
    ...(isSeparate || wireIndex !== undefined ? [] : [`${kind}, nowhere`]),
  ]
}

/**
 * The keys of a call that this one may repeat. Two calls with ids differ if their ids do; else two with indexes, if their
 * indexes do; else they are repeats, unless the wire separated them.
 */
function listLookupKeys({ ids, wireIndex, isSeparate }: PendingCall): string[] {
  const others = ids.size > 0 ? ['no id'] : ['id', 'no id']
  const keysWithoutId = (kind: string): string[] => {
    if (wireIndex === undefined) return isSeparate ? [] : [`${kind}, anywhere`]
    return [`${kind}, at ${wireIndex}`, ...(isSeparate ? [] : [`${kind}, nowhere`])]
  }
  return [...[...ids].map((id) => `id ${id}`), ...others.flatMap(keysWithoutId)]
}
