import { isBlank, WORD } from './lines.ts'

/** A text that stands within a line: what it is, what is to stand there, and where it begins. */
export interface Inline {
  readonly old: string
  readonly fresh: string
  readonly at: number
}

/**
 * Is it not clear that a text which begins or ends within a line is meant to? It may be the rest of a line of which the model
 * forgot the first or the last word: then the new text brings that word, or grows together with it.
 */
export function isTorn(text: string, { old, fresh, at }: Inline): boolean {
  const before = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  const end = at + old.length
  const stop = text.indexOf('\n', end)
  const after = text.slice(end, stop < 0 ? text.length : stop)
  const lines = old.split('\n')
  const [head, tail] = [isBlank(before) || at === 0 ? '' : before, isBlank(after) ? '' : after]
  // Several lines are whole lines; and what begins with the space of a line's start means the start.
  if (head !== '' && (lines.length > 1 || /^[ \t]{2,}|^\t/.test(old))) return true
  if (tail !== '' && lines.length > 1) return true
  return (
    (head !== '' && isGlued(head, old, fresh)) || (tail !== '' && isGlued(mirror(tail), mirror(old), mirror(fresh)))
  )
}

/** Does the new text repeat what stands before it, or run together with it as the old text did not? */
function isGlued(before: string, old: string, fresh: string): boolean {
  const word = before.trimStart()
  if (fresh.startsWith(word) && !old.startsWith(word)) return true
  const isWord = (sign: string | undefined): boolean => WORD.test(sign ?? '')
  return isWord(before.at(-1)) && isWord(fresh[0]) && !isWord(old[0])
}

function mirror(text: string): string {
  return [...text].reverse().join('')
}
