import { hash } from 'node:crypto'
import { isObject } from '../model/json.ts'
import type { Entry } from './entry.ts'

/** The sum before the first line. */
export const START = '0'.repeat(16)

/**
 * An entry as a line of the log. It ends with two checksums: `hash` covers the entry alone, so that the line proves itself
 * whatever became of its neighbours; `sum` covers the line and, through the sum before it, all lines before. Logs of older
 * versions have no `hash`; to those versions it is one more field, and so they can read ours.
 */
export function writeLine(entry: Entry, before: string): { line: Buffer; sum: string } {
  const text = JSON.stringify(entry)
  // An entry may hold very much: its bytes are made once, behind the sum that they go on from, and serve for everything.
  const length = Buffer.byteLength(text)
  const start = before.length
  const buffer = Buffer.allocUnsafe(start + length + HASH_LENGTH + SUM_LENGTH + 1)
  buffer.write(before, 0, 'latin1')
  buffer.write(text, start)
  const own = digest(buffer.subarray(start, start + length))
  buffer.write(`,"hash":"${own}"}`, start + length - 1, 'latin1')
  const end = start + length + HASH_LENGTH
  const sum = digest(buffer.subarray(0, end))
  buffer.write(`,"sum":"${sum}"}\n`, end - 1, 'latin1')
  return { line: buffer.subarray(start), sum }
}

/** A line that could be parsed. Whether its content is what was written is another question. */
export interface ReadLine {
  /** Not validated: only its number is sure to be one. */
  readonly entry: Record<string, unknown> & { readonly seq: number }
  /** What the sum covers. */
  readonly text: string
  readonly sum: string
  /** Does the entry match the hash of its own? `undefined`: it has none. */
  readonly proved: boolean | undefined
}

/** Reads one line by itself: whether it belongs where it stands is another question. */
export function readLine(line: Buffer): ReadLine | undefined {
  const end = line.at(-1) === CR ? line.length - 1 : line.length
  const tail = TAIL.exec(line.toString('latin1', Math.max(0, end - TAIL_LENGTH), end))
  if (!tail) return undefined
  const [, own, sum = ''] = tail
  const summed = end - SUM_LENGTH - 1
  const json = `${line.toString('utf8', 0, own === undefined ? summed : summed - HASH_LENGTH)}}`
  try {
    const entry: unknown = JSON.parse(json)
    if (!isObject(entry) || !Number.isSafeInteger(entry['seq'])) return undefined
    const text = own === undefined ? json : `${json.slice(0, -1)},"hash":"${own}"}`
    const proved = own === undefined ? undefined : digest(json) === own
    return { entry: entry as ReadLine['entry'], text, sum, proved }
  } catch {
    return undefined
  }
}

/** The sum at the end of a line that cannot be read otherwise: the next line may still go on from it. */
export function sumAtEnd(line: Buffer): string | undefined {
  return /,"sum":"([0-9a-f]{16})"\}\r?$/.exec(line.toString('latin1', Math.max(0, line.length - TAIL_LENGTH)))?.[1]
}

/** The pieces of a line that holds several entries, because the end of a line was lost. */
export function splitGlued(line: Buffer): Buffer[] {
  // One character for each byte, so that damaged bytes stay what they are.
  return line
    .toString('latin1')
    .split(GLUED)
    .map((piece) => Buffer.from(piece, 'latin1'))
}

/** The sum of a text that goes on from another sum. */
export function sumOf(text: string, before: string): string {
  return digest(before + text)
}

function digest(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex').slice(0, 16)
}

/** An entry that is longer than this, in bytes, is not read: the rest of the session matters more than it. */
export const LONGEST = 64 * 2 ** 20

const HASH_LENGTH = ',"hash":"0123456789abcdef"'.length
const SUM_LENGTH = ',"sum":"0123456789abcdef"'.length
const TAIL_LENGTH = HASH_LENGTH + SUM_LENGTH + 2
const CR = 0x0d

const TAIL = /(?:,"hash":"([0-9a-f]{16})")?,"sum":"([0-9a-f]{16})"\}$/
const GLUED = /(?<=,"sum":"[0-9a-f]{16}"\}).?(?=\{"seq":)/s
