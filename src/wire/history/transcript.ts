import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import { toWellFormed, toWellFormedJson } from '../../model/text.ts'
import type {
  AssistantPart,
  AssistantTurn,
  CallPart,
  MediaPart,
  Part,
  ResultPart,
  TextPart,
  Turn,
  WireId,
} from '../../model/turn.ts'
import { base62Hash } from '../../schema/hash.ts'
import type { ToolDeclarations } from '../../schema/dialect/declare-tools.ts'

/** A call with the id that it has on this wire, and its one result. */
export interface CallResultPair {
  readonly call: CallPart
  readonly id: string
  readonly result: ResultPart
}

/** One step of a transcript that every wire accepts. */
export type TranscriptStep =
  | { readonly kind: 'user'; readonly parts: readonly (TextPart | MediaPart)[] }
  | {
      readonly kind: 'assistant'
      readonly turn: AssistantTurn
      /** Without empty text, nameless calls and media that nobody can read back. */
      readonly parts: readonly AssistantPart[]
      /** One for each call, in the order of the calls (T92). */
      readonly pairs: readonly CallResultPair[]
    }

/** What ids look like on a wire. */
export interface IdFormat {
  readonly pattern: RegExp
}

/** The ids that a transcript has given out, so that it can be gone on with without being written again. */
export interface IdRegistry {
  readonly count: number
  has(id: string): boolean
  add(id: string): void
}

/** Where in a history the turns stand that are to be written: at its beginning, or after others that were written before. */
export interface HistoryPosition {
  readonly ids: IdRegistry
  readonly isContinuation: boolean
  /** For a reader, not for a model: only what was said, without what a server wants to have between. */
  readonly omitFiller?: true
}

/** Starts giving ids; with `before`, after those of an earlier part, which stays as it is. */
export function createIdRegistry(before?: IdRegistry): IdRegistry {
  const assigned = new Set<string>()
  const offset = before?.count ?? 0
  return {
    get count() {
      return offset + assigned.size
    },
    has: (id) => assigned.has(id) || (before?.has(id) ?? false),
    add: (id) => void assigned.add(id),
  }
}

/**
 * Turns any history, whatever it went through, into steps that pair every call with exactly one result, in order, with
 * legal ids that do not collide (T85–T104). A step depends only on what comes before it and on its own results, so a
 * longer history only adds to the steps of a shorter one. Turns that go on from others, by `place`, begin with an
 * assistant turn.
 */
export function buildTranscript(
  turns: readonly Turn[],
  at: { wire: WireId; profile: Profile; projection: ToolDeclarations; idFormat: IdFormat },
  position?: HistoryPosition,
): { steps: TranscriptStep[]; warnings: Warning[] } {
  const warnings: Warning[] = []
  const steps: TranscriptStep[] = []
  const newId = createIdGenerator(at, position?.ids ?? createIdRegistry())
  // What was said while calls were open comes after their results.
  let queuedUserSteps: TranscriptStep[] = []
  let open: { turn: AssistantTurn; parts: AssistantPart[]; results: ResultPart[] } | undefined

  function flushAssistant(): void {
    if (!open) return
    const { turn, parts, results } = open
    open = undefined
    const calls = parts.filter((part) => part.kind === 'call')
    const resultsById = new Map<string, ResultPart[]>()
    for (const result of results) {
      const candidates = resultsById.get(result.id)
      if (candidates) candidates.push(result)
      else resultsById.set(result.id, [result])
    }
    const remainingCalls = new Map<string, number>()
    for (const { id } of calls) remainingCalls.set(id, (remainingCalls.get(id) ?? 0) + 1)
    const pairs = calls.map((call) => {
      const later = (remainingCalls.get(call.id) ?? 1) - 1
      remainingCalls.set(call.id, later)
      const result = takeResult(resultsById.get(call.id) ?? [], later)
      if (!result)
        warnings.push({
          code: 'unanswered-call',
          message: `The call of ${call.name} has no result; the model is told that it did not run (T88).`,
        })
      return { call, id: newId(call), result: result ?? createMissingResult(call) }
    })
    for (const orphan of results) {
      if (remainingCalls.has(orphan.id)) continue
      warnings.push({
        code: 'orphan-result',
        message: `A result${orphan.name === '' ? '' : ` of ${orphan.name}`} answers no call and was left out (T89).`,
      })
    }
    steps.push({ kind: 'assistant', turn, parts, pairs })
  }

  /** Ends what came before the next request: everything up to here was sent as it stands, and must stay so. */
  function flush(): void {
    flushAssistant()
    steps.push(...queuedUserSteps)
    queuedUserSteps = []
    if (position?.omitFiller) return
    const last = steps.at(-1)
    // What was written before this part ended in a way that an assistant may follow.
    if (last === undefined && position?.isContinuation) return
    if (last?.kind !== 'user' && !hasResults(last)) steps.push(CONTINUE_STEP)
  }

  for (const turn of turns) {
    if (turn.role === 'results') {
      if (open) for (const part of turn.parts) open.results.push(part)
      else if (turn.parts.length > 0)
        warnings.push({ code: 'orphan-result', message: 'Results without calls were left out (T89).' })
      continue
    }
    if (turn.role === 'assistant') {
      flush()
      const parts = turn.parts.filter((part) => isWorthSending(part, at))
      // A turn that says and does nothing is left out (T85).
      if (parts.some((part) => part.kind !== 'reasoning')) open = { turn, parts, results: [] }
      continue
    }
    const parts = turn.role === 'note' ? [{ kind: 'text', text: turn.text } as const] : turn.parts
    const nonEmpty = parts.filter((part) => part.kind !== 'text' || part.text.trim() !== '')
    if (nonEmpty.length > 0) queuedUserSteps.push({ kind: 'user', parts: nonEmpty })
  }
  flush()
  return { steps, warnings }
}

/** Does this part carry native data that may go to this wire and signer? */
export function isNativeTo(part: Part, at: { wire: WireId; profile: Profile }): boolean {
  const native = 'native' in part ? part.native : undefined
  return native !== undefined && native.wire === at.wire && native.signer === at.profile.signer
}

/** The native data of a part, if it is an object of this wire and signer that can go back as it came (T103). */
export function getReplayableData(part: Part, at: { wire: WireId; profile: Profile }): JsonObject | undefined {
  const data = 'native' in part ? part.native?.data : undefined
  return isNativeTo(part, at) && isObject(data) && isWellFormedData(data) ? data : undefined
}

/** Data that would have to be mended is not what the vendor sealed. */
function isWellFormedData(data: JsonObject): boolean {
  let sendable = WELL_FORMED_DATA.get(data)
  if (sendable === undefined) WELL_FORMED_DATA.set(data, (sendable = toWellFormedJson(data) === data))
  return sendable
}

const WELL_FORMED_DATA = new WeakMap<JsonObject, boolean>()

/** The arguments of a stored call as an object, spelled as this projection declares them; always an object (T40, T41). */
export function toWireArguments(call: CallPart, projection: ToolDeclarations): JsonObject {
  return toWellFormedJson(projection.toWireArguments(call.name, call.input ?? {}))
}

/** The argument text of a stored call: as it came, byte for byte, where that still says the same (T92). */
export function toWireArgumentText(call: CallPart, projection: ToolDeclarations): string {
  const known = ARGUMENT_TEXTS.get(call)
  if (known?.projection === projection) return known.text
  const plain = JSON.stringify(toWireArguments(call, projection))
  const text = isSameJson(call.raw, plain) ? call.raw : plain
  ARGUMENT_TEXTS.set(call, { projection, text })
  return text
}

/** The text of a call that goes back as free text: one that came so, or one of a tool that is declared so here (T30). */
export function toFreeformText(
  call: CallPart,
  at: { wire: WireId; profile: Profile; projection: ToolDeclarations },
): string | undefined {
  const isDeclaredFreeform = at.projection.tools.some((tool) => tool.freeform && tool.originalName === call.name)
  if (call.freeform) return isDeclaredFreeform || isNativeTo(call, at) ? toWellFormed(call.raw) : undefined
  const { input, ...more } = call.input ?? {}
  return isDeclaredFreeform && typeof input === 'string' && Object.keys(more).length === 0
    ? toWellFormed(input)
    : undefined
}

const ARGUMENT_TEXTS = new WeakMap<CallPart, { projection: ToolDeclarations; text: string }>()

/** Says to the model that it may go on, where a transcript would otherwise have two assistant messages in a row, or begin or end with one. */
const CONTINUE_STEP: TranscriptStep = { kind: 'user', parts: [{ kind: 'text', text: '(continue)' }] }

function hasResults(step: TranscriptStep | undefined): boolean {
  return step?.kind === 'assistant' && step.pairs.length > 0
}

function isWorthSending(part: AssistantPart, at: { wire: WireId; profile: Profile }): boolean {
  if (part.kind === 'call') return part.name !== ''
  if (part.kind === 'text') return part.text.trim() !== '' || getReplayableData(part, at) !== undefined
  return true
}

/** Takes the last result for a call out of its pile (T90), but leaves one for each later call that has the same id (T10). */
function takeResult(candidates: ResultPart[], later: number): ResultPart | undefined {
  return candidates.splice(-1 - Math.min(later, candidates.length - 1), 1)[0]
}

/** What stands in for the result of a call that has none (T88), with what the model wrote if that was the trouble (T41). */
function createMissingResult(call: CallPart): ResultPart {
  const excerpt = call.flaw && call.raw !== '' ? ` The arguments came as: ${call.raw.slice(0, 2000)}` : ''
  const message = call.flaw
    ? `The call did not run. ${call.flaw.message}${excerpt}`
    : 'The call was interrupted and did not run to its end.'
  return {
    kind: 'result',
    id: call.id,
    name: call.name,
    status: call.flaw ? 'error' : 'interrupted',
    content: [{ kind: 'text', text: message }],
  }
}

/** Gives each call of a transcript an id that is legal on the wire and used only once (T10, T11, T95–T97). */
function createIdGenerator(
  at: { wire: WireId; profile: Profile; projection: ToolDeclarations; idFormat: IdFormat },
  used: IdRegistry,
): (call: CallPart) => string {
  function first(call: CallPart): string {
    const assigned = isNativeTo(call, at) ? call.native?.id : undefined
    if (assigned !== undefined) return assigned
    if (at.profile.ids === 'nine') return /^[A-Za-z0-9]{9}$/.test(call.id) ? call.id : base62Hash(call.id, 9)
    if (at.profile.ids === 'functions') return `functions.${at.projection.toWireName(call.name)}:${used.count}`
    return at.idFormat.pattern.test(call.id) ? call.id : base62Hash(call.id, 24)
  }

  return (call) => {
    let id = first(call)
    for (let again = 1; used.has(id); again++) {
      if (at.profile.ids === 'functions') id = `functions.${at.projection.toWireName(call.name)}:${used.count + again}`
      else id = base62Hash(`${call.id}#${again}`, at.profile.ids === 'nine' ? 9 : 24)
    }
    used.add(id)
    return id
  }
}

function isSameJson(raw: string, plain: string): boolean {
  try {
    const value: unknown = JSON.parse(raw)
    return isObject(value) && JSON.stringify(value) === plain
  } catch {
    return false
  }
}
