import { tryParseJson } from '../../model/json.ts'

/** The value of a JSON text whose end is missing, with as much of it as is complete; undefined if nothing is. */
export function readTornJson(text: string): unknown {
  const cuts = findCuts(text)
  // The last places first: nearly all of the text is usable.
  for (const { end, closers } of cuts.slice(-MAX_ATTEMPTS).reverse()) {
    const value = tryParseJson(text.slice(0, end) + closers)
    if (value !== undefined) return value
  }
  return undefined
}

const MAX_ATTEMPTS = 200

interface Cut {
  readonly end: number
  /** The brackets that are open here, in the order in which they must be closed. */
  readonly closers: string
}

/** The places after which a complete member or element ends. */
function findCuts(text: string): Cut[] {
  const open: string[] = []
  const cuts: Cut[] = []
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (isInString) {
      if (character === '\\') at++
      else if (character === '"') isInString = false
      continue
    }
    if (character === '"') isInString = true
    else if (character === '{') open.push('}')
    else if (character === '[') open.push(']')
    else if (character === '}' || character === ']') {
      open.pop()
      cuts.push({ end: at + 1, closers: open.toReversed().join('') })
    }
  }
  return cuts
}
