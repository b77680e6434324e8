import type { Grounding, GroundingSource } from '../../model/grounding.ts'

export function addCitations(text: string, { sources, supports }: Pick<Grounding, 'sources' | 'supports'>): string {
  return `${insertCitationMarkers(text, supports, sources.length)}${formatSourceList(sources)}`
}

export function formatSourceList(sources: readonly GroundingSource[]): string {
  if (sources.length === 0) return ''
  const lines = sources.map(({ title, url }, at) => `[${at + 1}] ${title || 'Untitled'} (${url || 'No URI'})`)
  return `\n\nSources:\n${lines.join('\n')}`
}

/** Markers are inserted from the end, so that offsets stay valid. Offsets count UTF-8 bytes. */
function insertCitationMarkers(text: string, supports: Grounding['supports'], count: number): string {
  const bytes = Buffer.from(text)
  const markers = supports
    .map((support) => ({ at: findPassageEnd(bytes, support), mark: formatCitationMarker(support.sources, count) }))
    .filter(({ at, mark: marker }) => at !== undefined && marker !== '')
    .sort((one, other) => (other.at ?? 0) - (one.at ?? 0))
  const pieces: string[] = []
  let end = bytes.length
  for (const { at = 0, mark: marker } of markers) {
    pieces.unshift(marker, bytes.toString('utf8', at, end))
    end = at
  }
  return bytes.toString('utf8', 0, end) + pieces.join('')
}

/** The end of a passage: by its offsets if they fit the text, else by its text; never within a character. */
function findPassageEnd(bytes: Buffer, { start, end, text }: Grounding['supports'][number]): number | undefined {
  if (text !== '' && bytes.toString('utf8', start, end) !== text) {
    const found = bytes.indexOf(text)
    return found < 0 ? undefined : found + Buffer.byteLength(text)
  }
  let at = Math.min(end, bytes.length)
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++
  return at
}

function formatCitationMarker(sources: readonly number[], count: number): string {
  return sources
    .filter((one) => one < count)
    .map((one) => `[${one + 1}]`)
    .join('')
}
