import type { Json } from '../../model/json.ts'

/**
 * JSON text that is to be written exactly as it is, with numbers that no double can hold, duplicate keys or deep nesting.
 * It is kept as a marked string; text that is not JSON is a plain string.
 */
export function markAsRawJson(raw: string): Json {
  try {
    JSON.parse(raw)
    // Here a line end can only be between values; in an SSE event it would end the line.
    return RAW_MARK + raw.replaceAll(/[\r\n]/g, ' ')
  } catch {
    return raw
  }
}

/** Serialises JSON; text marked by `markAsRawJson` is written as it is. */
export function stringifyWithRawJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent)
  return text.includes(ESCAPED_MARK)
    ? text.replaceAll(MARKED_VALUE, (_whole, inner: string) => JSON.parse(`"${inner}"`) as string)
    : text
}

/** Control characters, so that no response contains it by chance. */
const RAW_MARK = '\u0001verbatim\u0001'
const ESCAPED_MARK = '"\\u0001verbatim\\u0001'
const MARKED_VALUE = /"\\u0001verbatim\\u0001((?:[^"\\]|\\.)*)"/g
