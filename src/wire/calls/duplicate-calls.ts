import { toCanonicalJson } from '../../model/json.ts'
import type { CallPart } from '../../model/turn.ts'
import type { PendingCall } from './call-assembler.ts'

/** Tells a call that is sent again from one that is made again, and remembers it for the next. */
export type DuplicateDetector = (pendingCall: PendingCall, parts: readonly CallPart[]) => boolean

/** Starts to watch the calls of one turn (T11, T21). Each call is looked up, not compared with all others. */
export function createDuplicateDetector(): DuplicateDetector {
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

/** Under what a call is remembered: its ids, its place, and that nobody told it apart. */
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
 * Where a call of which this may be a copy would be remembered. Two with ids are told apart by them; else two with places by
 * these; else nothing tells them apart, unless the wire itself did.
 */
function listLookupKeys({ ids, wireIndex, isSeparate }: PendingCall): string[] {
  const others = ids.size > 0 ? ['no id'] : ['id', 'no id']
  const keysWithoutId = (kind: string): string[] => {
    if (wireIndex === undefined) return isSeparate ? [] : [`${kind}, anywhere`]
    return [`${kind}, at ${wireIndex}`, ...(isSeparate ? [] : [`${kind}, nowhere`])]
  }
  return [...[...ids].map((id) => `id ${id}`), ...others.flatMap(keysWithoutId)]
}
