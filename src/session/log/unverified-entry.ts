import type { Entry } from './entry.ts'

/**
 * What may be used of an entry whose content nobody can vouch for: a line of an older version, which has no hash of its
 * own, after the line before it was lost. What was said and what tools gave is kept, because to lose it would be worse;
 * calls, decisions, and what others rest on are not, because they act. The same object, if all of it may be used.
 */
export function stripUnverifiedContent(entry: Entry): Entry | undefined {
  switch (entry.kind) {
    case 'turn': {
      const parts = entry.turn.parts.flatMap((part) =>
        part.kind === 'text' && part.text !== '' ? [{ kind: 'text', text: part.text } as const] : [],
      )
      return parts.length === 0 ? undefined : { ...entry, turn: { ...entry.turn, parts } }
    }
    case 'result': {
      const { native: _, ...result } = entry.result
      return entry.result.native ? { ...entry, result } : entry
    }
    case 'reply':
    case 'compact':
    case 'change':
    case 'undo':
      return undefined
    case 'open':
    case 'user':
    case 'note':
    case 'intent':
    case 'ask':
    case 'request':
    case 'fault':
    case 'close':
      return entry
    default:
      return entry satisfies never
  }
}
