import type { Warning } from '../../model/event.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import type { ToolChoice } from '../../model/request.ts'
import type { AssistantTurn, ResultPart, Turn } from '../../model/turn.ts'
import type { Wire } from '../../wire/wire.ts'
import { toToolSpec, type ToolDefinition } from './definitions.ts'
import type { AssembledResponse } from './response-assembler.ts'
import { defined } from '../../model/defined.ts'

/** Which calls the model may make. */
export interface DeclareToolsOptions {
  readonly toolChoice?: ToolChoice | undefined
  /** May the model make several calls in one response? Without it, nothing is sent. */
  readonly parallelToolCalls?: boolean | undefined
  /** Told of what was changed in a tool, and of tools that cannot be declared. */
  readonly onWarning?: ((warning: Warning) => void) | undefined
}

/** An image or other media of a result, in base64. */
export interface ResultMedia {
  readonly mime: string
  readonly data: string
}

/** The result of a call. */
export interface CallResult {
  /** The id of the call. */
  readonly id: string
  /** What the model gets: text, or any value, which is sent as JSON. */
  readonly output: Json
  readonly media?: readonly ResultMedia[]
  /** The tool failed, and `output` says why. */
  readonly isError?: boolean
}

/** What the continuation of a history depends on. */
export interface ToHistoryOptions {
  /** The tools of the request. */
  readonly tools?: readonly ToolDefinition[] | undefined
  /** The ids in the history so far. The new ones are added, so that none is used twice. */
  readonly usedIds?: Set<string> | undefined
}

/** Encodes a request that consists of tools only, and returns these fields of it. */
export function encodeToolFields<State>(
  wire: Wire<State>,
  fields: readonly string[],
  tools: readonly ToolDefinition[],
  { toolChoice, parallelToolCalls, onWarning }: DeclareToolsOptions,
): JsonObject {
  const params = defined({ parallelCalls: parallelToolCalls })
  const { body, warnings } = wire.encodeRequest(
    { model: '', tools: tools.map(toToolSpec), turns: [], params, ...defined({ toolChoice }) },
    { ...wire.profile, eagerArguments: false },
  )
  for (const warning of warnings) onWarning?.(warning)
  return Object.fromEntries(Object.entries(body).filter(([field]) => fields.includes(field)))
}

/** Encodes a response and the results of its calls, as the continuation of a history. */
export function encodeContinuation<State>(
  wire: Wire<State>,
  response: AssembledResponse,
  results: readonly CallResult[],
  { tools = [], usedIds = new Set() }: ToHistoryOptions,
): JsonObject {
  const ids = {
    count: () => usedIds.size,
    has: (id: string) => usedIds.has(id),
    add: (id: string) => void usedIds.add(id),
  }
  // Only an assembler makes responses.
  const turn = response.turn as AssistantTurn
  const turns: Turn[] = [turn, { role: 'results', parts: toResultParts(turn, response.rejected, results) }]
  const request = { model: '', tools: tools.map(toToolSpec), turns }
  return wire.encodeRequest(request, wire.profile, { ids, isContinuation: true, omitFiller: true }).body
}

/** A call that must not run has its reason as the result. For flawed arguments the encoder writes one, with an excerpt. */
function toResultParts(
  turn: AssistantTurn,
  rejected: AssembledResponse['rejected'],
  results: readonly CallResult[],
): ResultPart[] {
  const parts = turn.parts.filter((part) => part.kind === 'call')
  const isFlawed = (id: string) => parts.some((part) => part.id === id && part.flaw)
  const reasons = rejected
    .filter(({ id }) => !isFlawed(id) && !results.some((result) => result.id === id))
    .map(({ id, reason }) => ({ id, output: `The call did not run. ${reason}`, isError: true }))
  return [...results, ...reasons].map((result: CallResult) => {
    const { id, output, media = [], isError = false } = result
    const text = typeof output === 'string' ? output : JSON.stringify(output ?? null)
    const content = [{ kind: 'text', text } as const, ...media.map((item) => ({ kind: 'media', ...item }) as const)]
    const name = parts.find((part) => part.id === id)?.name ?? ''
    const outcome = isError ? ({ status: 'error', error: { message: text } } as const) : ({ status: 'ok' } as const)
    return { kind: 'result', id, name, content, ...outcome }
  })
}
