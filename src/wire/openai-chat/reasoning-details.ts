import { type Json, type JsonObject, filterObjects, stringOrEmpty } from '../../model/json.ts'

/** The names that endpoints give the field of the reasoning. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_text'] as const

/** Joins pieces of `reasoning_details` with the same index, type and format; they must be sent back complete (T77). */
export function createReasoningDetailsBuilder() {
  const items: JsonObject[] = []
  const itemsByKey = new Map<string, JsonObject>()

  return {
    /** Adds the items of one delta, and returns their text. */
    add(pieces: readonly unknown[]): string {
      let text = ''
      for (const fields of filterObjects(pieces) as JsonObject[]) {
        const { index, type, format } = fields
        text += getDetailText(fields)
        const key = index === undefined ? undefined : JSON.stringify([index, type, format])
        const before = key === undefined ? undefined : itemsByKey.get(key)
        if (before) mergePiece(before, fields)
        else {
          const item = { ...fields }
          items.push(item)
          if (key !== undefined) itemsByKey.set(key, item)
        }
      }
      return text
    },
    end: (): Json[] | undefined => (items.length > 0 ? items : undefined),
  }
}

function mergePiece(item: JsonObject, piece: JsonObject): void {
  for (const [key, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue
    const joins = key === 'text' || key === 'summary' || key === 'data'
    item[key] = joins && typeof item[key] === 'string' && typeof value === 'string' ? item[key] + value : value
  }
}

function getDetailText(item: JsonObject): string {
  return typeof item['text'] === 'string' ? item['text'] : stringOrEmpty(item['summary'])
}
