import { ASCII_QUOTES, findQuotes, QUOTE_PATTERN, squeezeWhitespace } from '../match/lines.ts'
import type { PassageEdit } from './passage-pieces.ts'

/** Carries a new line from the model's quotes to the file's; gives nothing where that would be a guess. */
export type RequoteLine = (line: string) => string | undefined

/**
 * Finds out how the file's quotes and dashes follow from the model's, from lines that are otherwise the same. Printers'
 * quotes become plain ones. One plain quote for another is only taken back where the two cannot be mixed up: an apostrophe
 * is one of them too, and a shell or a template reads them differently.
 */
export function createRequoter(
  pairs: readonly (readonly [model: string, file: string])[],
  { old, file }: Pick<PassageEdit, 'old' | 'file'>,
): RequoteLine {
  const map = new Map<string, string>()
  let isClear = true
  for (const [model, fileLine] of pairs) {
    if (squeezeWhitespace(model, { quotes: false }).text === squeezeWhitespace(fileLine, { quotes: false }).text)
      continue
    const [left, right] = [findQuotes(model), findQuotes(fileLine)]
    if (left.length !== right.length) isClear = false
    for (const [at, quote] of left.entries()) {
      const other = right[at] ?? quote
      if (map.has(quote) && map.get(quote) !== other) isClear = false
      map.set(quote, other)
    }
  }
  const moved = [...map].filter(([quote, other]) => quote !== other)
  const rejectQuotes: RequoteLine = (line) => (findQuotes(line).length > 0 ? undefined : line)
  // A sign that the file has nowhere may come from a line that was remembered wrongly in other ways too.
  const fileQuotes = new Set(file.flatMap(findQuotes))
  if (!isClear || !old.flatMap(findQuotes).every((quote) => fileQuotes.has(map.get(quote) ?? quote)))
    return rejectQuotes
  if (moved.length === 0) return (line) => line
  // Where the printers' quotes that were seen stand for plain ones of the same shape, so do the others.
  const isShaped = moved.every(([quote, other]) => ASCII_QUOTE_SHAPES.get(quote) === other)
  const plain = (quote: string): string | undefined =>
    map.get(quote) ?? (ASCII_QUOTES.includes(quote) ? quote : isShaped ? ASCII_QUOTE_SHAPES.get(quote) : undefined)
  const replaceQuotes: RequoteLine = (line) => {
    // A sign that was never seen in the file is one more to doubt.
    const isKnown = findQuotes(line).every((quote) => plain(quote) !== undefined)
    return isKnown ? line.replace(QUOTE_PATTERN, (quote) => plain(quote) ?? quote) : undefined
  }
  if (moved.every(([quote]) => !ASCII_QUOTES.includes(quote))) return replaceQuotes
  const knownQuotes = new Set(pairs.flatMap(([, fileLine]) => findQuotes(fileLine)))
  const isMixed = moved.some(([quote]) => knownQuotes.has(quote))
  return (line) => {
    const hasUnknownQuote = findQuotes(line).some((quote) => !map.has(quote))
    return isMixed || hasUnknownQuote || /[$\\]/.test(line) ? rejectQuotes(line) : replaceQuotes(line)
  }
}

/** The plain quotes that printers' quotes stand for. */
const ASCII_QUOTE_SHAPES = new Map([
  ...['‘', '’', '‚'].map((quote): [string, string] => [quote, "'"]),
  ...['“', '”', '„'].map((quote): [string, string] => [quote, '"']),
])
