import { hash } from 'node:crypto'
import { isObject, tryParseJson } from '../../model/json.ts'
import type { Entry } from './entry.ts'

export const INITIAL_SUM = '0'.repeat(16)

/**
 * A line ends with two checksums: `hash` covers the entry alone, so that a line can be verified without its neighbours;
 * `sum` covers the line and, through the sum before it, all lines before. Logs of older versions have no `hash`, and those
 * versions read it as one more field.
 */
export function encodeLogLine(entry: Entry, before: string): { line: Buffer; sum: string } {
  const text = JSON.stringify(entry)
  // An entry may be very large: it is encoded once, behind the previous sum, and this buffer serves for both checksums.
  const length = Buffer.byteLength(text)
  const start = before.length
  const buffer = Buffer.allocUnsafe(start + length + HASH_LENGTH + SUM_LENGTH + 1)
  buffer.write(before, 0, 'latin1')
  buffer.write(text, start)
  const entryHash = shortSha256(buffer.subarray(start, start + length))
  buffer.write(`,"hash":"${entryHash}"}`, start + length - 1, 'latin1')
  const end = start + length + HASH_LENGTH
  const sum = shortSha256(buffer.subarray(0, end))
  buffer.write(`,"sum":"${sum}"}\n`, end - 1, 'latin1')
  return { line: buffer.subarray(start), sum }
}

/** A line that could be parsed, but is not verified yet. */
export interface ParsedLogLine {
  /** Not validated, except for its number. */
  readonly entry: Record<string, unknown> & { readonly seq: number }
  /** The text that the sum covers. */
  readonly text: string
  readonly sum: string
  /** Does the entry match its hash? `undefined`: it has none. */
  readonly isVerified: boolean | undefined
}

export function parseLogLine(line: Buffer): ParsedLogLine | undefined {
  const { json, entryHash, sum } = splitLogLine(line) ?? {}
  const entry = parseEntryJson(json)
  if (json === undefined || sum === undefined || !entry) return undefined
  const text = entryHash === undefined ? json : `${json.slice(0, -1)},"hash":"${entryHash}"}`
  const isVerified = entryHash === undefined ? undefined : shortSha256(json) === entryHash
  return { entry, text, sum, isVerified }
}

/** The entry of a line, without its checksums. */
export function parseLogEntry(line: Buffer): ParsedLogLine['entry'] | undefined {
  return parseEntryJson(splitLogLine(line)?.json)
}

/** The JSON of the entry as it was before the checksums were added. */
function splitLogLine(line: Buffer) {
  const end = line.at(-1) === CR ? line.length - 1 : line.length
  const tail = TAIL_PATTERN.exec(line.toString('latin1', Math.max(0, end - TAIL_LENGTH), end))
  if (!tail) return undefined
  const [, entryHash, sum = ''] = tail
  const sumOffset = end - SUM_LENGTH - 1
  const json = `${line.toString('utf8', 0, entryHash === undefined ? sumOffset : sumOffset - HASH_LENGTH)}}`
  return { json, entryHash, sum }
}

function parseEntryJson(json: string | undefined): ParsedLogLine['entry'] | undefined {
  const entry = json === undefined ? undefined : tryParseJson(json)
  return isObject(entry) && Number.isSafeInteger(entry['seq']) ? (entry as ParsedLogLine['entry']) : undefined
}

/** The sum at the end of a line that is otherwise unreadable: the next line may build on it. */
export function parseTrailingSum(line: Buffer): string | undefined {
  return /,"sum":"([0-9a-f]{16})"\}\r?$/.exec(line.toString('latin1', Math.max(0, line.length - TAIL_LENGTH)))?.[1]
}

/** Splits a line that contains several entries, because a line break was lost. */
export function splitJoinedLines(line: Buffer): Buffer[] {
  // One character per byte, so that damaged bytes are preserved.
  return line
    .toString('latin1')
    .split(JOINED_LINES_PATTERN)
    .map((piece) => Buffer.from(piece, 'latin1'))
}

export function computeChainSum(text: string, before: string): string {
  return shortSha256(before + text)
}

function shortSha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex').slice(0, 16)
}

/** Longer lines are skipped, so that the rest of the session can be read. */
export const MAX_LOG_LINE_BYTES = 64 * 2 ** 20

const HASH_LENGTH = ',"hash":"0123456789abcdef"'.length
const SUM_LENGTH = ',"sum":"0123456789abcdef"'.length
const TAIL_LENGTH = HASH_LENGTH + SUM_LENGTH + 2
const CR = 0x0d

const TAIL_PATTERN = /(?:,"hash":"([0-9a-f]{16})")?,"sum":"([0-9a-f]{16})"\}$/
const JOINED_LINES_PATTERN = /(?<=,"sum":"[0-9a-f]{16}"\}).?(?=\{"seq":)/s
