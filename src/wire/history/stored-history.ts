import type { JsonObject } from '../../model/json.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { ResultPart, Turn, WireId } from '../../model/turn.ts'

/** The id of the response that a request continues, if the vendor of this wire stores it. */
export function getStoredResponseId({ previous }: Pick<ModelRequest, 'previous'>, wire: WireId): string | undefined {
  return previous?.wire === wire ? previous.id : undefined
}

interface HistoryEncoder {
  readonly encodeTurns: (turns: readonly Turn[]) => JsonObject[]
  /** A result whose call the vendor stores. */
  readonly encodeResult: (result: ResultPart) => JsonObject
}

/**
 * The history of a request, on wires whose vendor can store earlier turns: then results may belong to calls that are not
 * in this request (T139).
 */
export function encodeStoredHistory(
  { turns }: Pick<ModelRequest, 'turns'>,
  isStored: boolean,
  encoder: HistoryEncoder,
): JsonObject[] {
  if (!isStored) return encoder.encodeTurns(turns)
  const calls = new Set(
    turns
      .flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
      .map((part) => part.kind === 'call' && part.id),
  )
  const items: JsonObject[] = []
  let pending: Turn[] = []
  const flush = () => {
    // Results alone belong to calls that the vendor stores; no other message is needed.
    if (!pending.every(({ role }) => role === 'results')) items.push(...encoder.encodeTurns(pending))
    pending = []
  }
  for (const turn of turns) {
    const detached = turn.role === 'results' ? turn.parts.filter((result) => !calls.has(result.id)) : []
    if (turn.role !== 'results' || detached.length === 0) {
      pending.push(turn)
      continue
    }
    pending.push({ role: 'results', parts: turn.parts.filter((result) => calls.has(result.id)) })
    flush()
    items.push(...detached.map(encoder.encodeResult))
  }
  flush()
  return items
}
