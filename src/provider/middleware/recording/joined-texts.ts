import { isObject } from '../../../model/json.ts'
import { createFramer } from '../../../wire/framing/framer.ts'

export interface JoinedText {
  text: string
  readonly cuts: number[]
}

/** The strings at the same path (with the vendor's indexes) in one event after the other, joined. */
export function joinStreamedTexts(contentType: string | undefined, bytes: Uint8Array): readonly JoinedText[] {
  const texts = new Map<string, JoinedText>()
  const frames = createFramer(contentType)
  for (const frame of [...frames.push(bytes), ...frames.end()])
    if (frame.kind === 'json') collectTexts(frame.value, '', texts)
  return [...texts.values()].filter(({ cuts }) => cuts.length > 0)
}

function collectTexts(value: unknown, path: string, texts: Map<string, JoinedText>): void {
  if (typeof value === 'string') {
    const joined = texts.get(path)
    if (!joined) texts.set(path, { text: value, cuts: [] })
    else {
      joined.cuts.push(joined.text.length)
      joined.text += value
    }
  } else if (Array.isArray(value)) for (const [at, one] of value.entries()) collectTexts(one, `${path}/${at}`, texts)
  else if (isObject(value)) {
    const number = value['index'] ?? value['output_index']
    const here = typeof number === 'number' ? `${path}#${number}` : path
    for (const [key, one] of Object.entries(value)) collectTexts(one, `${here}/${key}`, texts)
  }
}
