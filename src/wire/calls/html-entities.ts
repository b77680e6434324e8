import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { MAX_JSON_DEPTH } from '../json/relaxed-json.ts'

/** Decodes HTML entities in strings that have no unescaped character: `a && b &amp; c` was not escaped (T42). */
export function decodeEntities(input: JsonObject): JsonObject {
  return decodeValue(input, 1) as JsonObject
}

/** Returns the same object if there is nothing to decode. */
function decodeValue(value: Json, depth: number): Json {
  if (typeof value === 'string') return decodeText(value)
  if (depth > MAX_JSON_DEPTH) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => decodeValue(item, depth + 1))
    return items.some((item, at) => item !== value[at]) ? items : value
  }
  if (!isObject(value)) return value
  const before = Object.entries(value)
  const after = before.map(([key, item]): [string, Json] => [key, decodeValue(item, depth + 1)])
  return after.some(([, item], at) => item !== before[at]?.[1]) ? Object.fromEntries(after) : value
}

function decodeText(text: string): string {
  if (!text.includes('&')) return text
  let found = false
  const rest = text.replace(ENTITY, () => {
    found = true
    return ''
  })
  if (!found || UNESCAPED_CHAR.test(rest)) return text
  return text.replace(ENTITY, (entity) => CHARACTER_BY_ENTITY.get(entity.toLowerCase()) ?? entity)
}

const ENTITY = /&(?:amp|lt|gt|quot|apos|#38|#x26|#60|#x3c|#62|#x3e|#34|#x22|#0?39|#x27);/gi
const UNESCAPED_CHAR = /[&<>"']/
const CHARACTER_BY_ENTITY = new Map([
  ...['&amp;', '&#38;', '&#x26;'].map((entity) => [entity, '&'] as const),
  ...['&lt;', '&#60;', '&#x3c;'].map((entity) => [entity, '<'] as const),
  ...['&gt;', '&#62;', '&#x3e;'].map((entity) => [entity, '>'] as const),
  ...['&quot;', '&#34;', '&#x22;'].map((entity) => [entity, '"'] as const),
  ...['&apos;', '&#39;', '&#039;', '&#x27;'].map((entity) => [entity, "'"] as const),
])
