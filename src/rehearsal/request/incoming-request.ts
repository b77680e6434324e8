import { isObject, tryParseJson, type JsonObject } from '../../model/json.ts'
import type { ModelRequest } from '../../model/request.ts'
import { formatResultText, joinTextParts } from '../../model/text.ts'
import type { WireId } from '../../model/turn.ts'
import type { Wire } from '../../wire/wire.ts'
import { countAssistantTurns } from './count-turns.ts'
import { getTurnCountFromId } from '../response/signatures.ts'

/** An incoming request. What is costly to compute is a function. */
export interface IncomingRequest {
  readonly wire: WireId
  readonly model: string
  readonly stream: boolean
  readonly assistantTurns: number
  /** Its body was not parsed; reading it is expensive. */
  readonly isScanned: boolean
  readonly byteLength: number
  readonly readBody: () => JsonObject
  readonly readRequest: () => ModelRequest
}

export function parseIncomingRequest(
  wire: Wire,
  body: JsonObject,
  overrides: { model?: string; stream?: boolean; byteLength: number },
): IncomingRequest {
  let request: ModelRequest | undefined
  return {
    wire: wire.id,
    model: overrides.model ?? (typeof body['model'] === 'string' ? body['model'] : ''),
    stream: overrides.stream ?? body['stream'] === true,
    assistantTurns: countAssistantTurns(wire.id, body) + countStoredTurns(body),
    isScanned: false,
    byteLength: overrides.byteLength,
    readBody: () => body,
    readRequest: () => (request ??= wire.readRequest(body).request),
  }
}

/** With a stored history, the id of the last response contains the number of turns. */
function countStoredTurns(body: JsonObject): number {
  const previous = body['previous_response_id'] ?? body['previous_interaction_id']
  const storedTurns = typeof previous === 'string' ? getTurnCountFromId(previous) : undefined
  return storedTurns === undefined ? 0 : storedTurns + 1
}

export function countTurnsSincePrompt(request: ModelRequest): number {
  const lastUserIndex = request.turns.findLastIndex((turn) => turn.role === 'user')
  return request.turns.slice(lastUserIndex + 1).filter((turn) => turn.role === 'assistant').length
}

/** The texts of a request that a script can match. */
export function extractTexts(request: ModelRequest): Record<'user' | 'result' | 'system' | 'conversation', string> {
  const { turns, system = '' } = request
  const user = turns.findLast((turn) => turn.role === 'user')
  const lastAssistantIndex = turns.findLastIndex((turn) => turn.role === 'assistant')
  const results = turns.slice(lastAssistantIndex + 1).flatMap((turn) => (turn.role === 'results' ? turn.parts : []))
  return {
    user: user ? joinTextParts(user.parts) : '',
    result: results.map(formatResultText).join('\n'),
    system,
    get conversation() {
      return [system, ...turns.map(getTurnText)].join('\n')
    },
  }
}

function getTurnText(turn: ModelRequest['turns'][number]): string {
  switch (turn.role) {
    case 'note':
      return turn.text
    case 'results':
      return turn.parts.map(formatResultText).join('\n')
    case 'user':
    case 'assistant':
      return joinTextParts(turn.parts)
    default:
      return turn satisfies never
  }
}

export function countResults({ turns }: ModelRequest): number {
  return turns.flatMap((turn) => (turn.role === 'results' ? turn.parts : [])).length
}

export function collectCallIds(request: ModelRequest): Set<string> {
  const calls = request.turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
  return new Set(calls.flatMap((part) => (part.kind === 'call' ? [part.native?.id ?? part.id] : [])))
}

/** Undefined if it is not an object. */
export function parseJsonBody(bytes: Buffer): JsonObject | undefined {
  const value = tryParseJson(bytes.toString('utf8'))
  return isObject(value) ? (value as JsonObject) : undefined
}
