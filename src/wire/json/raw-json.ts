import type { Json } from '../../model/json.ts'

/**
 * JSON text that is to be written exactly as it is: numbers that no double can hold, keys that come twice, ten thousand
 * levels. It travels as a marked string; text that is not JSON is a plain string.
 */
export function toRawJson(raw: string): Json {
  try {
    JSON.parse(raw)
    // A line end can only stand between values, and would end the line of an event.
    return RAW_MARK + raw.replaceAll(/[\r\n]/g, ' ')
  } catch {
    return raw
  }
}

/** Writes JSON, with what is verbatim in it as it is. */
export function stringifyWithRawJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent)
  return text.includes(ESCAPED_MARK)
    ? text.replaceAll(MARKED_VALUE, (_whole, inner: string) => JSON.parse(`"${inner}"`) as string)
    : text
}

/** No answer holds this by itself. */
const RAW_MARK = '\u0001verbatim\u0001'
const ESCAPED_MARK = '"\\u0001verbatim\\u0001'
const MARKED_VALUE = /"\\u0001verbatim\\u0001((?:[^"\\]|\\.)*)"/g
