import { isObject, type Json, type JsonObject } from '../../model/json.ts'

/** Puts `reasoning_details` together, which come in pieces and must go back whole (T77). */
export interface ReasoningDetailsBuilder {
  /** Adds the items of one delta; gives the text that they say. */
  add(items: readonly unknown[]): string
  end(): Json[] | undefined
}

/** Starts collecting. Pieces of one item share its index, type and format: their text is joined, of other keys the last counts. */
export function createReasoningDetailsBuilder(): ReasoningDetailsBuilder {
  const items: JsonObject[] = []
  const itemsByKey = new Map<string, JsonObject>()

  return {
    add(pieces) {
      let text = ''
      for (const piece of pieces) {
        if (!isObject(piece)) continue
        const fields = piece as JsonObject
        text += getDetailText(fields)
        const key =
          fields['index'] === undefined
            ? undefined
            : JSON.stringify([fields['index'], fields['type'], fields['format']])
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
    end: () => (items.length > 0 ? items : undefined),
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
  if (typeof item['text'] === 'string') return item['text']
  return typeof item['summary'] === 'string' ? item['summary'] : ''
}
