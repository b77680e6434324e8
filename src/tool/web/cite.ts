import type { Grounding, Source } from '../../model/grounding.ts'

/** An answer with the numbers of its sources where they belong, and the list of them below. */
export function withSources(text: string, { sources, supports }: Pick<Grounding, 'sources' | 'supports'>): string {
  return `${cited(text, supports, sources.length)}${sourceList(sources)}`
}

/** The list of sources, as it stands below an answer; nothing if there are none. */
export function sourceList(sources: readonly Source[]): string {
  if (sources.length === 0) return ''
  const lines = sources.map(({ title, url }, at) => `[${at + 1}] ${title || 'Untitled'} (${url || 'No URI'})`)
  return `\n\nSources:\n${lines.join('\n')}`
}

/** Marks go in from the back, so that the places before them stay. Offsets count bytes of UTF-8, not characters. */
function cited(text: string, supports: Grounding['supports'], count: number): string {
  const bytes = Buffer.from(text)
  const marks = supports
    .map((support) => ({ at: endOf(bytes, support), mark: markOf(support.sources, count) }))
    .filter(({ at, mark }) => at !== undefined && mark !== '')
    .sort((one, other) => (other.at ?? 0) - (one.at ?? 0))
  const pieces: string[] = []
  let end = bytes.length
  for (const { at = 0, mark } of marks) {
    pieces.unshift(mark, bytes.toString('utf8', at, end))
    end = at
  }
  return bytes.toString('utf8', 0, end) + pieces.join('')
}

/** Where the passage ends: by its bytes, if they say what it says; else where its words stand; never inside a character. */
function endOf(bytes: Buffer, { start, end, text }: Grounding['supports'][number]): number | undefined {
  if (text !== '' && bytes.toString('utf8', start, end) !== text) {
    const found = bytes.indexOf(text)
    return found < 0 ? undefined : found + Buffer.byteLength(text)
  }
  let at = Math.min(end, bytes.length)
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++
  return at
}

function markOf(sources: readonly number[], count: number): string {
  return sources
    .filter((one) => one < count)
    .map((one) => `[${one + 1}]`)
    .join('')
}
