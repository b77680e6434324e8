import { isObject } from '../../model/json.ts'
import { framer } from '../../wire/framing/framer.ts'

/** A text that came in pieces, and where it was cut. */
export interface Spoken {
  text: string
  readonly cuts: number[]
}

/**
 * The texts that a stream spells out: what stands at the same place in one event after the other, put together. It knows
 * no vendor: a place is the way to it, with the numbers that the vendor gives to what it streams.
 */
export function spokenIn(contentType: string | undefined, bytes: Uint8Array): readonly Spoken[] {
  const texts = new Map<string, Spoken>()
  const frames = framer(contentType)
  for (const frame of [...frames.push(bytes), ...frames.end()]) if (frame.kind === 'json') walk(frame.value, '', texts)
  return [...texts.values()].filter(({ cuts }) => cuts.length > 0)
}

function walk(value: unknown, place: string, texts: Map<string, Spoken>): void {
  if (typeof value === 'string') {
    const known = texts.get(place)
    if (!known) texts.set(place, { text: value, cuts: [] })
    else {
      known.cuts.push(known.text.length)
      known.text += value
    }
  } else if (Array.isArray(value)) for (const [at, one] of value.entries()) walk(one, `${place}/${at}`, texts)
  else if (isObject(value)) {
    const number = value['index'] ?? value['output_index']
    const here = typeof number === 'number' ? `${place}#${number}` : place
    for (const [key, one] of Object.entries(value)) walk(one, `${here}/${key}`, texts)
  }
}
