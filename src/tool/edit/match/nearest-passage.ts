import { alignByWeight } from './align.ts'
import { findSimilarPassages } from './similar-passage.ts'
import { normalizeLine, isBlank, measureLineSimilarity } from './lines.ts'

export function describeNearestPassage(text: string, wanted: string): string | undefined {
  const lines = text.split('\n')
  const old = wanted.replace(/^\n+|\n+$/g, '').split('\n')
  const [best] = findSimilarPassages(lines, old)
  if (!best) return undefined
  const shownLines = lines.slice(best.first, Math.min(best.end, best.first + MAX_SHOWN_LINES))
  const more =
    best.end - best.first > shownLines.length ? `\n[... ${best.end - best.first - shownLines.length} more lines]` : ''
  const where = best.end - best.first === 1 ? `line ${best.first + 1}` : `lines ${best.first + 1}-${best.end}`
  const differences = listDifferences(old, lines.slice(best.first, best.end))
  const list = differences.length === 0 ? '' : `\nIt differs there (- yours, + the file's):\n${differences.join('\n')}`
  return `The nearest passage is ${where}:\n${shownLines.join('\n')}${more}${list}`
}

const MAX_SHOWN_LINES = 30
const MAX_DIFFERENCES = 10

function listDifferences(old: readonly string[], file: readonly string[]): string[] {
  if (old.length * file.length > 250_000) return []
  const pairs = new Map(alignByWeight(old, file, weighLines))
  const result: string[] = []
  let next = 0
  const extra = (until: number): void => {
    for (; next < until; next++) if (!isBlank(file[next] ?? '')) result.push(`+ ${showWhitespace(file[next] ?? '')}`)
  }
  for (const [at, line] of old.entries()) {
    const other = pairs.get(at)
    if (other === undefined) {
      if (!isBlank(line)) result.push(`- ${showWhitespace(line)}`)
      continue
    }
    extra(other)
    if (file[other] !== line) result.push(`- ${showWhitespace(line)}`, `+ ${showWhitespace(file[other] ?? '')}`)
    next = other + 1
  }
  extra(file.length)
  if (result.length <= MAX_DIFFERENCES) return result
  return [...result.slice(0, MAX_DIFFERENCES), `[... ${result.length - MAX_DIFFERENCES} more]`]
}

function weighLines(one: string, other: string): number {
  if (one === other) return isBlank(one) ? 0.1 : 2
  if (isBlank(one) || isBlank(other)) return 0
  if (normalizeLine(one) === normalizeLine(other)) return 1.5
  const lineSimilarity = measureLineSimilarity(one, other)
  return lineSimilarity > 0.5 ? lineSimilarity : 0
}

function showWhitespace(line: string): string {
  const body = line.trim()
  const start = line.slice(0, line.indexOf(body)).replaceAll('\t', '→')
  const end = line.slice(line.indexOf(body) + body.length)
  return `${start}${body}${end === '' ? '' : `[${end.length} trailing]`}`
}
