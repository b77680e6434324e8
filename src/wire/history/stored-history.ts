import type { JsonObject } from '../../model/json.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { AssistantTurn, ResultPart, Turn, WireId } from '../../model/turn.ts'
import { createIdRegistry, type HistoryPosition } from './transcript.ts'

/** The id of the response that a request continues, if the vendor of this wire stores it. */
export function getStoredResponseId({ previous }: Pick<ModelRequest, 'previous'>, wire: WireId): string | undefined {
  return previous?.wire === wire ? previous.id : undefined
}

/** How a wire writes its history. */
export interface HistoryEncoder {
  readonly encodeTurns: (turns: readonly Turn[], position: HistoryPosition | undefined) => JsonObject[]
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
  position?: HistoryPosition,
): JsonObject[] {
  if (!isStored) return encoder.encodeTurns(turns, position)
  const ids = position?.ids ?? createIdRegistry()
  const items: JsonObject[] = []
  let pending: Turn[] = []
  let detached: ResultPart[] = []
  let encodedTurnCount = 0
  const flush = () => {
    // Results of stored calls answer the model, so that no other message is needed before them.
    const filler = detached.length > 0 ? { omitFiller: true as const } : {}
    const reportedTurnCount = (position?.reportedTurnCount ?? 0) - encodedTurnCount
    const here = { ...position, ids, isContinuation: true, reportedTurnCount, ...filler }
    if (pending.length > 0) items.push(...encoder.encodeTurns(pending, here))
    items.push(...detached.map(encoder.encodeResult))
    encodedTurnCount += pending.length
    pending = []
    detached = []
  }
  const made = new Set<string>()
  const openUntil = findLastResults(turns)
  for (const [at, turn] of turns.entries()) {
    if (turn.role === 'assistant') for (const id of listCallIds(turn)) made.add(id)
    if (turn.role !== 'results') {
      pending.push(turn)
      continue
    }
    const own = turn.parts.filter((result) => made.has(result.id))
    if (own.length > 0) pending.push({ role: 'results', parts: own })
    detached.push(...turn.parts.filter((result) => !made.has(result.id)))
    // A call and its result are encoded together.
    const isOpen = [...made].some((id) => (openUntil.get(id) ?? at) > at)
    if (detached.length > 0 && !isOpen) flush()
  }
  flush()
  return items
}

/** The position of the last result with each id. */
function findLastResults(turns: readonly Turn[]): Map<string, number> {
  return new Map(
    turns.flatMap((turn, at) => (turn.role === 'results' ? turn.parts.map(({ id }) => [id, at] as const) : [])),
  )
}

function listCallIds({ parts }: AssistantTurn): string[] {
  return parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []))
}
