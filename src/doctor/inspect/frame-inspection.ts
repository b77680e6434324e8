/** A piece of a call as it was in one frame, before assembly. What the frame did not contain is undefined. */
export interface InspectedCallFragment {
  /** The index that identifies the call; null if it is missing, undefined if the wire has none. */
  readonly index?: number | null | undefined
  readonly id?: unknown
  /** The vendor's second id of the same call (Responses). */
  readonly itemId?: unknown
  readonly name?: unknown
  readonly arguments?: unknown
  /** Does a call start in this frame? */
  readonly startsCall: boolean
  /** The complete arguments, repeated at the end of the call. */
  readonly isFinalCopy?: true
}

/** What the frames of a response contain, in the same terms for all wires. */
export interface FrameInspection {
  fragments: InspectedCallFragment[]
  /** The indexes of the blocks or items in the order of their start; null for one without an index. */
  blockIndexes: (number | null)[]
  finishReasons: string[]
  usages: unknown[]
  text: string
  /** How often a response started. */
  startCount: number
  /** A block started and did not end. */
  hasOpenBlock: boolean
  /** An error came inside the response. */
  hasError: boolean
}

export function toNumberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}
