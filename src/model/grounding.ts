import { isObject } from './json.ts'
import type { AssistantTurn } from './turn.ts'

/** What the vendor looked up for a response by itself, and which passages of the response it supports. */
export interface Grounding {
  readonly sources: readonly GroundingSource[]
  readonly supports: readonly GroundingSupport[]
  /** Pages that it was asked to read. */
  readonly pages: readonly { readonly url: string; readonly read: boolean }[]
}

export interface GroundingSource {
  readonly title: string
  readonly url: string
}

/** A passage of the response, by byte offsets of its UTF-8 text, and the indexes of its sources. */
interface GroundingSupport {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly sources: readonly number[]
}

/** The grounding of a turn, if there is any. It is native data of a part of its own, and is never sent back. */
export function readGrounding(turn: Pick<AssistantTurn, 'parts'>): Grounding | undefined {
  for (const part of turn.parts) {
    const data = part.native?.data
    if (isObject(data) && 'grounding' in data) return data['grounding'] as unknown as Grounding
  }
  return undefined
}
