import { PLAIN_QUOTES, QUOTES, squeeze } from './lines.ts'

/**
 * Carries a new line from the model's quotes and dashes to the file's, learned from lines that are otherwise the same.
 * Printers' quotes become plain ones. One plain quote for another would be a guess: it may be an apostrophe.
 */
export function requoter(
  pairs: readonly (readonly [model: string, file: string])[],
): (line: string) => string | undefined {
  const map = new Map<string, string>()
  let isClear = true
  for (const [model, file] of pairs) {
    if (squeeze(model, { quotes: false }).text === squeeze(file, { quotes: false }).text) continue
    const [left, right] = [model.match(QUOTES) ?? [], file.match(QUOTES) ?? []]
    if (left.length !== right.length) isClear = false
    for (const [at, sign] of left.entries()) {
      const other = right[at] ?? sign
      if (map.has(sign) && map.get(sign) !== other) isClear = false
      map.set(sign, other)
    }
  }
  const moved = [...map].filter(([sign, other]) => sign !== other)
  if (moved.length === 0) return (line) => line
  if (isClear && moved.every(([sign]) => !PLAIN_QUOTES.includes(sign))) {
    // A printers' sign that was never seen in the file is one more to doubt.
    const isKnown = (line: string): boolean =>
      (line.match(QUOTES) ?? []).every((sign) => map.has(sign) || PLAIN_QUOTES.includes(sign))
    return (line) => (isKnown(line) ? line.replace(QUOTES, (sign) => map.get(sign) ?? sign) : undefined)
  }
  return (line) => (QUOTES_IN.test(line) ? undefined : line)
}

const QUOTES_IN = new RegExp(QUOTES.source)
