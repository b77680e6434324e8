import { align } from './align.ts'
import { likePassages } from './fuzzy.ts'
import { essence, isBlank, similarity } from './lines.ts'

/** The passage that is most like what was looked for, and how it differs, in words for a model that wants to try again. */
export function nearestPassage(text: string, wanted: string): string | undefined {
  const lines = text.split('\n')
  const old = wanted.replace(/^\n+|\n+$/g, '').split('\n')
  const [best] = likePassages(lines, old)
  if (!best) return undefined
  const shown = lines.slice(best.first, Math.min(best.end, best.first + MAX_SHOWN))
  const more = best.end - best.first > shown.length ? `\n[... ${best.end - best.first - shown.length} more lines]` : ''
  const where = best.end - best.first === 1 ? `line ${best.first + 1}` : `lines ${best.first + 1}-${best.end}`
  const differences = compare(old, lines.slice(best.first, best.end))
  const list = differences.length === 0 ? '' : `\nIt differs there (- yours, + the file's):\n${differences.join('\n')}`
  return `The nearest passage is ${where}:\n${shown.join('\n')}${more}${list}`
}

const MAX_SHOWN = 30
const MAX_DIFFERENCES = 10

/** The lines that are not word for word the same; of lines that are much alike, both versions together. */
function compare(old: readonly string[], file: readonly string[]): string[] {
  if (old.length * file.length > 250_000) return []
  const pairs = new Map(align(old, file, weigh))
  const result: string[] = []
  let next = 0
  const extra = (until: number): void => {
    for (; next < until; next++) if (!isBlank(file[next] ?? '')) result.push(`+ ${visible(file[next] ?? '')}`)
  }
  for (const [at, line] of old.entries()) {
    const other = pairs.get(at)
    if (other === undefined) {
      if (!isBlank(line)) result.push(`- ${visible(line)}`)
      continue
    }
    extra(other)
    if (file[other] !== line) result.push(`- ${visible(line)}`, `+ ${visible(file[other] ?? '')}`)
    next = other + 1
  }
  extra(file.length)
  if (result.length <= MAX_DIFFERENCES) return result
  return [...result.slice(0, MAX_DIFFERENCES), `[... ${result.length - MAX_DIFFERENCES} more]`]
}

function weigh(one: string, other: string): number {
  if (one === other) return isBlank(one) ? 0.1 : 2
  if (isBlank(one) || isBlank(other)) return 0
  if (essence(one) === essence(other)) return 1.5
  const like = similarity(one, other)
  return like > 0.5 ? like : 0
}

/** Differences in white space must be seen to be put right. */
function visible(line: string): string {
  const body = line.trim()
  const start = line.slice(0, line.indexOf(body)).replaceAll('\t', '→')
  const end = line.slice(line.indexOf(body) + body.length)
  return `${start}${body}${end === '' ? '' : `[${end.length} trailing]`}`
}
