import { isObject, tryParseJson } from '../../model/json.ts'

export interface JsonLines {
  readonly records: readonly Readonly<Record<string, unknown>>[]
  /** Lines that are not an object: torn by a crash, or written over each other. */
  readonly unreadableCount: number
}

/** Reads one object a line. Two objects on one line, left by a torn write, are both read if they can be told apart. */
export function readJsonLines(text: string): JsonLines {
  const records: Record<string, unknown>[] = []
  let unreadableCount = 0
  for (const line of text.split('\n')) {
    // A crash of the machine may leave zeros where a line was to be.
    const clean = line.replaceAll('\0', '').trim()
    if (clean === '') continue
    const value = tryParseJson(clean) ?? readAfterTornObject(clean)
    if (isObject(value)) records.push(value)
    else unreadableCount++
    if (isObject(value) && tryParseJson(clean) === undefined) unreadableCount++
  }
  return { records, unreadableCount }
}

/** The object that was written after the beginning of another one, on the same line. */
function readAfterTornObject(line: string): unknown {
  for (let at = line.indexOf('{"', 1); at > 0; at = line.indexOf('{"', at + 1)) {
    const value = tryParseJson(line.slice(at))
    if (isObject(value) && (typeof value['type'] === 'string' || typeof value['id'] === 'string')) return value
  }
  return undefined
}
