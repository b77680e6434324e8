import { PLAIN_QUOTES, QUOTES, squeeze } from './lines.ts'
import type { Passage } from './pieces.ts'

/** Carries a new line from the model's quotes to the file's; gives nothing where that would be a guess. */
export type Requote = (line: string) => string | undefined

/**
 * Finds out how the file's quotes and dashes follow from the model's, from lines that are otherwise the same. Printers'
 * quotes become plain ones. One plain quote for another is only taken back where the two cannot be mixed up: an apostrophe
 * is one of them too, and a shell or a template reads them differently.
 */
export function requoter(
  pairs: readonly (readonly [model: string, file: string])[],
  { old, file }: Pick<Passage, 'old' | 'file'>,
): Requote {
  const map = new Map<string, string>()
  let isClear = true
  for (const [model, real] of pairs) {
    if (squeeze(model, { quotes: false }).text === squeeze(real, { quotes: false }).text) continue
    const [left, right] = [signsOf(model), signsOf(real)]
    if (left.length !== right.length) isClear = false
    for (const [at, sign] of left.entries()) {
      const other = right[at] ?? sign
      if (map.has(sign) && map.get(sign) !== other) isClear = false
      map.set(sign, other)
    }
  }
  const moved = [...map].filter(([sign, other]) => sign !== other)
  const hasNone: Requote = (line) => (signsOf(line).length > 0 ? undefined : line)
  // A sign that the file has nowhere may come from a line that was remembered wrongly in other ways too.
  const there = new Set(file.flatMap(signsOf))
  if (!isClear || !old.flatMap(signsOf).every((sign) => there.has(map.get(sign) ?? sign))) return hasNone
  if (moved.length === 0) return (line) => line
  // Where the printers' quotes that were seen stand for plain ones of the same shape, so do the others.
  const isShaped = moved.every(([sign, other]) => PLAIN_SHAPES.get(sign) === other)
  const plain = (sign: string): string | undefined =>
    map.get(sign) ?? (PLAIN_QUOTES.includes(sign) ? sign : isShaped ? PLAIN_SHAPES.get(sign) : undefined)
  const carry: Requote = (line) => {
    // A sign that was never seen in the file is one more to doubt.
    const isKnown = signsOf(line).every((sign) => plain(sign) !== undefined)
    return isKnown ? line.replace(QUOTES, (sign) => plain(sign) ?? sign) : undefined
  }
  if (moved.every(([sign]) => !PLAIN_QUOTES.includes(sign))) return carry
  const seen = new Set(pairs.flatMap(([, real]) => signsOf(real)))
  const isMixed = moved.some(([sign]) => seen.has(sign))
  return (line) => {
    const strange = signsOf(line).some((sign) => !map.has(sign))
    return isMixed || strange || /[$\\]/.test(line) ? hasNone(line) : carry(line)
  }
}

/** The plain quotes that printers' quotes stand for. */
const PLAIN_SHAPES = new Map([
  ...['‘', '’', '‚'].map((sign): [string, string] => [sign, "'"]),
  ...['“', '”', '„'].map((sign): [string, string] => [sign, '"']),
])

function signsOf(line: string): readonly string[] {
  return line.match(QUOTES) ?? []
}
