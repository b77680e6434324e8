import type { WireId } from '../../src/model/turn.ts'

/** The wires, in the order of the rows and columns of every matrix. */
export const WIRES: readonly WireId[] = [
  'gemini',
  'code-assist',
  'openai-chat',
  'openai-responses',
  'anthropic',
  'interactions',
]

/** Who can seal vendor data on a wire: the plain endpoint, whose signer has the name of the wire, and others. */
export const ELSEWHERE = 'elsewhere'

const SEALERS = [
  ...WIRES.flatMap((wire) => [`${wire}/${wire}`, `${wire}/${ELSEWHERE}`]),
  'openai-chat/mistral',
  'openai-chat/kimi',
]

/**
 * A mark that vendor data of one wire and signer carries, in tests, wherever it holds a string. It occurs nowhere else,
 * is short enough to stand inside an id of nine characters, and tells by itself whose it is.
 */
export function sealMark(wire: WireId, signer: string): string {
  const letter = 'ABCDEFGHIJKLMN'[SEALERS.indexOf(`${wire}/${signer}`)]
  if (letter === undefined) throw new Error(`nobody seals as ${wire}/${signer}`)
  return `Zq${letter}7Qz`
}

/** The marks in a text that are not those of this wire and signer. */
export function foreignMarks(text: string, wire: WireId, signer: string): string[] {
  const own = sealMark(wire, signer)
  return [...new Set(text.match(/Zq[A-Z]7Qz/g) ?? [])].filter((mark) => mark !== own)
}
