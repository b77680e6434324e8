/** A set of words that are written as one text, separated by spaces. */
export function keywordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '))
}
