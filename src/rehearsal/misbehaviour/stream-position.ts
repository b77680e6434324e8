import type { StreamPosition } from './misbehaviour.ts'
import type { StreamSection } from '../response/encode-frames.ts'

/** So many whole events, and a portion of the next one. */
export interface StreamCutPosition {
  readonly index: number
  readonly portion?: 'half' | 'all-but-one'
}

/** A landmark that the stream does not have counts as its middle. */
export function resolveStreamPosition(
  events: readonly { readonly section: StreamSection }[],
  position: StreamPosition,
): StreamCutPosition {
  const sections = events.map(({ section }) => section)
  if (typeof position === 'number') return { index: Math.min(position, sections.length) }
  const middle = Math.floor(sections.length / 2)
  if (position === 'start') return { index: 0 }
  if (position === 'first-event') return { index: Math.min(1, sections.length) }
  if (position === 'frame') return { index: middle, portion: 'half' }
  if (position === 'delimiter') return { index: middle, portion: 'all-but-one' }
  if (position === 'before-end') return { index: findEnd(sections) }
  if (position === 'after-call') return { index: findLastCallFrame(sections) + 1 || findEnd(sections) }
  return findMiddleOf(sections, position) ?? { index: middle }
}

/** The middle of the events of one section; if there is only one, the middle of it, as with Gemini's calls. */
function findMiddleOf(sections: readonly StreamSection[], wantedSection: StreamSection): StreamCutPosition | undefined {
  const kind = wantedSection === 'arguments' && !sections.includes('arguments') ? 'call' : wantedSection
  const found = sections.flatMap((section, index) => (section === kind ? [index] : []))
  const [first] = found
  if (first === undefined) return undefined
  return found.length === 1 ? { index: first, portion: 'half' } : { index: found[Math.ceil(found.length / 2)] ?? first }
}

function findLastCallFrame(sections: readonly StreamSection[]): number {
  return sections.findLastIndex((section) => section === 'call' || section === 'arguments' || section === 'call-end')
}

function findEnd(sections: readonly StreamSection[]): number {
  const end = sections.indexOf('end')
  return end < 0 ? sections.length : end
}
