import { isObject, type JsonObject } from '../model/json.ts'
import type { Request } from '../model/request.ts'
import { resultText, textOf } from '../model/text.ts'
import type { WireId } from '../model/turn.ts'
import type { Wire } from '../wire/wire.ts'
import { assistantTurns } from './count-turns.ts'
import { turnsBefore } from './marks.ts'

/** A request that a step answers. What is costly to know is found out only when somebody asks. */
export interface Asked {
  readonly wire: WireId
  readonly model: string
  readonly stream: boolean
  /** How many times the assistant has spoken in the conversation. */
  readonly turns: number
  /** Was it only scanned? Then nobody should look into it without need. */
  readonly light: boolean
  /** The size of the request. */
  readonly bytes: number
  readonly body: () => JsonObject
  readonly request: () => Request
}

/** Reads a request from its body. */
export function readAsked(
  wire: Wire,
  body: JsonObject,
  more: { model?: string; stream?: boolean; bytes: number },
): Asked {
  let request: Request | undefined
  return {
    wire: wire.id,
    model: more.model ?? (typeof body['model'] === 'string' ? body['model'] : ''),
    stream: more.stream ?? body['stream'] === true,
    turns: assistantTurns(wire.id, body) + kept(body),
    light: false,
    bytes: more.bytes,
    body: () => body,
    request: () => (request ??= wire.read(body)),
  }
}

/** A vendor that keeps the history counts the answers before; ours are in the id of the last one. */
function kept(body: JsonObject): number {
  const previous = body['previous_response_id']
  const before = typeof previous === 'string' ? turnsBefore(previous) : undefined
  return before === undefined ? 0 : before + 1
}

/** How many times the assistant has spoken since the person spoke last. */
export function turnsSincePrompt(request: Request): number {
  const said = request.turns.findLastIndex((turn) => turn.role === 'user')
  return request.turns.slice(said + 1).filter((turn) => turn.role === 'assistant').length
}

/** The texts of a request that a script may look at. */
export function textsOf(request: Request): Record<'user' | 'result' | 'system' | 'conversation', string> {
  const { turns, system = '' } = request
  const user = turns.findLast((turn) => turn.role === 'user')
  const spoken = turns.findLastIndex((turn) => turn.role === 'assistant')
  const results = turns.slice(spoken + 1).flatMap((turn) => (turn.role === 'results' ? turn.parts : []))
  return {
    user: user ? textOf(user.parts) : '',
    result: results.map(resultText).join('\n'),
    system,
    get conversation() {
      return [system, ...turns.map(spokenText)].join('\n')
    },
  }
}

function spokenText(turn: Request['turns'][number]): string {
  if (turn.role === 'note') return turn.text
  return turn.role === 'results' ? turn.parts.map(resultText).join('\n') : textOf(turn.parts)
}

/** The ids under which the conversation knows its calls already. */
export function knownIds(request: Request): Set<string> {
  const calls = request.turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
  return new Set(calls.flatMap((part) => (part.kind === 'call' ? [part.native?.id ?? part.id] : [])))
}

/** The body of a request as an object; undefined where it is not one. */
export function parseBody(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isObject(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}
