import { WORD_CHARACTER_PATTERN } from './lines.ts'
import type { PassageMatch } from './find-matches.ts'

/** Is it unclear whether a text is meant to begin or end within a line? The model may have forgotten a word there. */
export function isCutWithinLine({ before, after }: PassageMatch, old: string, replacement: string): boolean {
  const [from, to] = [old.trim(), replacement.trim()]
  const [left, right] = [from.split('\n'), to.split('\n')]
  // Several lines are whole lines, unless the partial one has words and is kept. Leading white space means the start of a
  // line.
  const stays = (end: 0 | -1): boolean =>
    /\w{2}/.test(left.at(end) ?? '') && left.at(end)?.trim() === right.at(end)?.trim()
  if (before !== '' && (left.length > 1 || /^\s/.test(old)) && !stays(0)) return true
  if (after !== '' && left.length > 1 && !stays(-1)) return true
  return runsTogether(before, from, to) || runsTogether(reverseText(after), reverseText(from), reverseText(to))
}

/** Does the old text begin within a word, or does the new text repeat the text before it, or join it? */
function runsTogether(before: string, old: string, replacement: string): boolean {
  const word = before.trim()
  if (word === '') return false
  if (replacement.startsWith(word) && !old.startsWith(word)) return true
  const isWord = (sign: string | undefined): boolean => WORD_CHARACTER_PATTERN.test(sign ?? '')
  return isWord(before.at(-1)) && (isWord(old[0]) || isWord(replacement[0]))
}

function reverseText(text: string): string {
  return text.split('').reverse().join('')
}
