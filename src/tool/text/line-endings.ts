/** All lines end alike, or each in its own way. */
export type LineEndings = { readonly all: LineEnding } | { readonly each: readonly LineEnding[] }

export type LineEnding = '\n' | '\r\n'

export function normalizeLineEndings(raw: string): { text: string; lineEndings: LineEndings } {
  if (!raw.includes('\r\n')) return { text: raw, lineEndings: { all: '\n' } }
  const text = raw.replaceAll('\r\n', '\n')
  const lines = raw.split('\n')
  const each = lines.slice(0, -1).map((line): LineEnding => (line.endsWith('\r') ? '\r\n' : '\n'))
  return { text, lineEndings: each.every((end) => end === '\r\n') ? { all: '\r\n' } : { each } }
}

/** In a file with mixed line endings each old line keeps its own, and a new line gets that of the line above. */
export async function restoreLineEndings(before: string, lineEndings: LineEndings, after: string): Promise<string> {
  if ('all' in lineEndings) return lineEndings.all === '\n' ? after : after.replaceAll('\n', lineEndings.all)
  const old = before.split('\n')
  const lines = after.split('\n')
  const from = await matchOldLines(old, lines)
  const { each } = lineEndings
  // The last line may have no ending; then the one above decides.
  const endOf = (at: number | undefined): LineEnding | undefined => (at === undefined ? undefined : each[at])
  let last = endOf(from.find((at) => endOf(at) !== undefined)) ?? each[0] ?? '\n'
  return lines
    .map((line, at) => {
      if (at === lines.length - 1) return line
      last = endOf(from[at]) ?? last
      return line + last
    })
    .join('')
}

/** For each new line, the old line that it is. */
async function matchOldLines(old: readonly string[], lines: readonly string[]): Promise<(number | undefined)[]> {
  let head = 0
  while (head < old.length && head < lines.length && old[head] === lines[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < lines.length - head && old.at(-1 - tail) === lines.at(-1 - tail)) tail++
  const from: (number | undefined)[] = lines.map((_line, at) => {
    if (at < head) return at
    return at >= lines.length - tail ? at - lines.length + old.length : undefined
  })
  const { pairEqualLines } = await import('./diff.ts')
  const pairs = pairEqualLines(old.slice(head, old.length - tail), lines.slice(head, lines.length - tail))
  // Between two old lines, a new line counts as the old one in its place.
  let [left, right] = [0, 0]
  for (const [toLeft, toRight] of [...pairs, [old.length - tail - head, lines.length - tail - head] as const]) {
    for (; right < toRight; right++) if (left < toLeft) from[head + right] = head + left++
    left = toLeft
    if (head + right < lines.length - tail) from[head + right] = head + left
    left++
    right++
  }
  return from
}
