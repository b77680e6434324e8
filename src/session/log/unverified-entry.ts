import type { Entry } from './entry.ts'

/**
 * What may be used of an entry that cannot be verified: a line of an older version without a hash, after a lost line.
 * Messages and results are kept, because losing them would be worse; calls, decisions and file changes are not, because
 * they have effects. Returns the same object if all of it may be used.
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
    case 'settings':
      return undefined
    case 'open':
    case 'user':
    case 'note':
    case 'intent':
    case 'subagent':
    case 'ask':
    case 'request':
    case 'fault':
    case 'close':
      return entry
    default:
      return entry satisfies never
  }
}
