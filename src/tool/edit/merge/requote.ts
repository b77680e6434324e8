import { ASCII_QUOTES, findQuotes, QUOTE_PATTERN, squeezeWhitespace } from '../match/lines.ts'
import type { PassageEdit } from './passage-pieces.ts'

/** Converts a new line to the file's quotes; undefined if that would be a guess. */
export type RequoteLine = (line: string) => string | undefined

/**
 * Derives from equal lines how the file's quotes and dashes replace the model's. Typographic quotes become plain ones. A
 * plain quote is replaced by another only if the two cannot be confused: an apostrophe is one too, and shells and templates
 * read them differently.
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
  // A quote that the file does not have may come from a line that is wrong in other ways too.
  const fileQuotes = new Set(file.flatMap(findQuotes))
  if (!isClear || !old.flatMap(findQuotes).every((quote) => fileQuotes.has(map.get(quote) ?? quote)))
    return rejectQuotes
  if (moved.length === 0) return (line) => line
  // If typographic quotes stand for plain ones of the same shape, so do the others.
  const isShaped = moved.every(([quote, other]) => ASCII_QUOTE_SHAPES.get(quote) === other)
  const plain = (quote: string): string | undefined =>
    map.get(quote) ?? (ASCII_QUOTES.includes(quote) ? quote : isShaped ? ASCII_QUOTE_SHAPES.get(quote) : undefined)
  const replaceQuotes: RequoteLine = (line) => {
    // A quote that is not known from the file is one more doubt.
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

const ASCII_QUOTE_SHAPES = new Map([
  ...['‘', '’', '‚'].map((quote): [string, string] => [quote, "'"]),
  ...['“', '”', '„'].map((quote): [string, string] => [quote, '"']),
])
