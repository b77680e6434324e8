import { isObject, stringOf } from '../model/json.ts'

/** A matching line, as ripgrep tells it: where it is, and its bytes. */
export interface RgHit {
  readonly line: number
  readonly offset: number
  readonly bytes: Buffer
}

/** The matching lines of one file; the path begins where the search began. */
export interface RgFile {
  readonly path: string
  readonly hits: RgHit[]
}

/** Reads one line of what ripgrep prints with --json; nothing for messages that tell of no match. */
export function readMatch(line: string): { readonly path: string; readonly hit: RgHit } | undefined {
  // Most of its lines begin or end a file; to parse them would take longer than all the rest.
  if (!line.startsWith('{"type":"match"')) return undefined
  const message = parse(line)
  if (!isObject(message) || !isObject(message['data'])) return undefined
  const { data } = message
  const number = data['line_number']
  const offset = data['absolute_offset']
  if (typeof number !== 'number' || typeof offset !== 'number') return undefined
  return { path: textOf(data['path']), hit: { line: number, offset, bytes: bytesOf(data['lines']) } }
}

/** The last line of a program that was ended may be cut. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string {
  return isObject(value) && typeof value['text'] === 'string' ? value['text'] : bytesOf(value).toString('utf8')
}

/** Text that is not UTF-8 comes as base64. */
function bytesOf(value: unknown): Buffer {
  if (!isObject(value)) return Buffer.alloc(0)
  return typeof value['text'] === 'string'
    ? Buffer.from(value['text'], 'utf8')
    : Buffer.from(stringOf(value['bytes']), 'base64')
}
