import { isObject, type JsonObject } from '../../model/json.ts'
import type { ModelRequest } from '../../model/request.ts'
import { formatResultText, joinTextParts } from '../../model/text.ts'
import type { WireId } from '../../model/turn.ts'
import type { Wire } from '../../wire/wire.ts'
import { countAssistantTurns } from './count-turns.ts'
import { parseTurnCount } from '../response/signatures.ts'

/** A request that a step answers. What is costly to know is found out only when somebody asks. */
export interface IncomingRequest {
  readonly wire: WireId
  readonly model: string
  readonly stream: boolean
  /** How many times the assistant has spoken in the conversation. */
  readonly assistantTurns: number
  /** Was it only scanned? Then nobody should look into it without need. */
  readonly isScanned: boolean
  /** The size of the request. */
  readonly byteLength: number
  readonly readBody: () => JsonObject
  readonly readRequest: () => ModelRequest
}

/** Reads a request from its body. */
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
    readRequest: () => (request ??= wire.readRequest(body)),
  }
}

/** A vendor that keeps the history counts the answers before; ours are in the id of the last one. */
function countStoredTurns(body: JsonObject): number {
  const previous = body['previous_response_id']
  const storedTurns = typeof previous === 'string' ? parseTurnCount(previous) : undefined
  return storedTurns === undefined ? 0 : storedTurns + 1
}

/** How many times the assistant has spoken since the person spoke last. */
export function countTurnsSincePrompt(request: ModelRequest): number {
  const lastUserIndex = request.turns.findLastIndex((turn) => turn.role === 'user')
  return request.turns.slice(lastUserIndex + 1).filter((turn) => turn.role === 'assistant').length
}

/** The texts of a request that a script may look at. */
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
  if (turn.role === 'note') return turn.text
  return turn.role === 'results' ? turn.parts.map(formatResultText).join('\n') : joinTextParts(turn.parts)
}

/** The ids under which the conversation knows its calls already. */
export function collectCallIds(request: ModelRequest): Set<string> {
  const calls = request.turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
  return new Set(calls.flatMap((part) => (part.kind === 'call' ? [part.native?.id ?? part.id] : [])))
}

/** The body of a request as an object; undefined where it is not one. */
export function parseJsonBody(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isObject(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}
