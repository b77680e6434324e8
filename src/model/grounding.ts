import type { AssistantTurn } from './turn.ts'

/** What the vendor looked up for an answer by itself, and which words of the answer rest on it. */
export interface Grounding {
  readonly sources: readonly GroundingSource[]
  readonly supports: readonly GroundingSupport[]
  /** Pages that it was asked to read. */
  readonly pages: readonly { readonly url: string; readonly read: boolean }[]
}

/** A page that an answer rests on. */
export interface GroundingSource {
  readonly title: string
  readonly url: string
}

/** A passage of the answer, by bytes of its UTF-8 text, and the places of its sources in their list. */
export interface GroundingSupport {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly sources: readonly number[]
}

/** The grounding of a turn, if its vendor gave one. It is sealed on a part of its own, and never goes back. */
export function readGrounding(turn: Pick<AssistantTurn, 'parts'>): Grounding | undefined {
  for (const part of turn.parts) {
    const data = part.native?.data
    if (typeof data === 'object' && data !== null && !Array.isArray(data) && 'grounding' in data) {
      return data['grounding'] as unknown as Grounding
    }
  }
  return undefined
}
