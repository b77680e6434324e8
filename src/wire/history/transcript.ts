import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ToolSpec } from '../../model/request.ts'
import { toWellFormed, toWellFormedJson } from '../../model/text.ts'
import type {
  AssistantPart,
  AssistantTurn,
  CallPart,
  MediaPart,
  NativeData,
  NoteTurn,
  ResultPart,
  TextPart,
  Turn,
  WireId,
} from '../../model/turn.ts'
import { defined } from '../../model/defined.ts'
import { base62Hash } from '../../schema/hash.ts'
import type { ToolDeclarations } from '../../schema/dialect/declare-tools.ts'
import { type CollectedTools, hasNativeLateTools } from '../late-tools.ts'
import { findLateResults } from './late-results.ts'
import { createOrphanWarning, type OpenTurn, pairCallsWithResults } from './pair-results.ts'

/** A call with its id on this wire, and its one result. */
export interface CallResultPair {
  readonly call: CallPart
  readonly id: string
  readonly result: ResultPart
}

export interface AssistantStep {
  readonly kind: 'assistant'
  readonly turn: AssistantTurn
  /** Without empty text and nameless calls. */
  readonly parts: readonly AssistantPart[]
  /** One for each call, in the order of the calls (T92). */
  readonly pairs: readonly CallResultPair[]
  /** Were the warnings about it given with an earlier request? */
  readonly isReported: boolean
}

/** One step of a history that every wire accepts. */
export type TranscriptStep = UserStep | AssistantStep

export interface UserStep {
  readonly kind: 'user'
  /** Empty only if the step changes the tools, or is a note that the wire writes in its own way. */
  readonly parts: readonly (TextPart | MediaPart)[]
  /** The note that the parts are the text of. */
  readonly note?: NoteTurn
  /** Tools that are declared from here on; only if the endpoint can add tools inside the history. */
  readonly tools?: readonly ToolSpec[]
  /** The names of tools that are gone from here on; as above. */
  readonly removedTools?: readonly string[]
}

/** What the encoding of a history depends on; `wire` and `profile` decide which native data can be sent. */
export interface EncodeContext {
  readonly wire: WireId
  readonly profile: Profile
  readonly projection: ToolDeclarations
  /** Has the model ever had a tool, wherever it is declared and whoever runs it? */
  readonly canCall: boolean
  /** Can the model find deferred tools here? If not, they are declared like the others. */
  readonly canFindTools: boolean
}

/** The ids that a transcript has used, so that it can be continued without encoding it again. */
export interface IdRegistry {
  count(): number
  has(id: string): boolean
  add(id: string): void
}

export interface ContinuedIdRegistry extends IdRegistry {
  /** The ids that were added to this one, without those before. */
  readonly added: Iterable<string>
}

/** The position of the turns in the history: at its start, or after turns that were encoded before. */
export interface HistoryPosition {
  readonly ids: IdRegistry
  readonly isContinuation: boolean
  /** The `endState` of the turns before. */
  readonly before?: { readonly startsWithThinking: boolean } | undefined
  /** The tools of the whole history. */
  readonly tools?: CollectedTools
  /** For a reader, not for a model: without the messages that only servers need. */
  readonly omitFiller?: true
  /** The number of turns at the start whose warnings were given with an earlier request. */
  readonly reportedTurnCount?: number
}

/** `before`: the ids of an earlier part of the history, which is not changed. */
export function createIdRegistry(before?: IdRegistry): ContinuedIdRegistry {
  const assigned = new Set<string>()
  const offset = before?.count() ?? 0
  return {
    count: () => offset + assigned.size,
    has: (id) => assigned.has(id) || (before?.has(id) ?? false),
    add: (id) => void assigned.add(id),
    added: assigned,
  }
}

/**
 * Makes any history valid: every call has exactly one result, in order, with valid and unique ids (T85–T104). A step
 * depends only on what comes before it and on its own results, so a longer history only adds steps. Turns that continue
 * others, by `position`, start with an assistant turn. `idPattern` matches the ids that the wire accepts.
 */
export function buildTranscript(
  turns: readonly Turn[],
  context: EncodeContext,
  idPattern: RegExp,
  position?: HistoryPosition,
): { steps: TranscriptStep[]; warnings: Warning[] } {
  const warnings: Warning[] = []
  const steps: TranscriptStep[] = []
  const newId = createIdGenerator(context, idPattern, position?.ids ?? createIdRegistry())
  // User messages that came while calls were open follow after their results.
  let queuedUserSteps: TranscriptStep[] = []
  const lateResults = findLateResults(turns)
  let open: OpenTurn | undefined

  function flushAssistant(): void {
    if (!open) return
    const { turn, parts, isReported } = open
    const { pairs, warnings: found } = pairCallsWithResults(open, newId)
    if (!isReported) warnings.push(...found)
    open = undefined
    steps.push({ kind: 'assistant', turn, parts, pairs, isReported })
  }

  /** Completes the steps of one request: what was sent must not change later. */
  function flush(): void {
    flushAssistant()
    steps.push(...queuedUserSteps)
    queuedUserSteps = []
    if (position?.omitFiller) return
    const last = steps.findLast((step) => step.kind === 'assistant' || step.parts.length > 0)
    // The part that was encoded before ends so that an assistant turn may follow.
    if (last === undefined && position?.isContinuation) return
    if (last?.kind !== 'user' && !hasResults(last)) steps.push(CONTINUE_STEP)
  }

  function queueUserStep(parts: readonly (TextPart | MediaPart)[], more?: Omit<UserStep, 'kind' | 'parts'>): void {
    const nonEmpty = parts.filter((part) => isWorthSending(part, context))
    if (nonEmpty.length > 0 || more) queuedUserSteps.push({ kind: 'user', parts: nonEmpty, ...more })
  }

  for (const [at, turn] of turns.entries()) {
    const isReported = at < (position?.reportedTurnCount ?? 0)
    switch (turn.role) {
      case 'results': {
        const parts = turn.parts.filter((part) => !lateResults.isLate(part))
        if (open) for (const part of parts) open.results.push(part)
        else if (!isReported) warnings.push(...parts.map(createOrphanWarning))
        break
      }
      case 'assistant': {
        flush()
        const parts = turn.parts.filter((part) => isWorthSending(part, context))
        // A turn without content is left out (T85).
        if (parts.some((part) => part.kind !== 'reasoning'))
          open = { turn, parts, results: [...lateResults.ofTurn(turn)], isReported }
        break
      }
      case 'user':
        queueUserStep(turn.parts)
        break
      case 'note':
        queueUserStep([{ kind: 'text', text: turn.text }], describeNote(turn, context))
        break
    }
  }
  flush()
  return { steps, warnings }
}

/** What a note says besides its text; undefined if the wire has no means to say it. */
function describeNote(note: NoteTurn, context: EncodeContext): Omit<UserStep, 'kind' | 'parts'> | undefined {
  const { tools, removedTools } = note
  const changes = hasNativeLateTools(context.profile) ? defined({ tools, removedTools }) : {}
  const isWritten = context.profile.systemNotes && (note.trusted || hasNativeDataFor(note, context))
  return isWritten || Object.keys(changes).length > 0 ? { ...changes, ...(isWritten && { note }) } : undefined
}

interface NativeHolder {
  readonly native?: NativeData
}

/** Does this part have native data of this wire and signer? */
export function hasNativeDataFor({ native }: NativeHolder, scope: EncodeContext): boolean {
  return native !== undefined && native.wire === scope.wire && native.signer === scope.profile.signer
}

/** The native data of a part, if it is of this wire and signer and can be sent back unchanged (T103). */
export function getReplayableData(part: NativeHolder, scope: EncodeContext): JsonObject | undefined {
  const data = part.native?.data
  return hasNativeDataFor(part, scope) && isObject(data) && isWellFormedData(data) ? data : undefined
}

/** Data that would have to be changed is not what the vendor signed. */
function isWellFormedData(data: JsonObject): boolean {
  let sendable = WELL_FORMED_DATA.get(data)
  if (sendable === undefined) WELL_FORMED_DATA.set(data, (sendable = toWellFormedJson(data) === data))
  return sendable
}

const WELL_FORMED_DATA = new WeakMap<JsonObject, boolean>()

/** The arguments of a stored call in the names of this projection; always an object (T40, T41). */
export function toWireArguments(call: CallPart, projection: ToolDeclarations): JsonObject {
  return toWellFormedJson(projection.toWireArguments(call.name, call.input ?? {}))
}

/** The argument text of a stored call: as received, byte for byte, if it still has the same meaning (T92). */
export function toWireArgumentText(call: CallPart, projection: ToolDeclarations): string {
  const known = ARGUMENT_TEXTS.get(call)
  if (known?.projection === projection) return known.text
  const plain = stringifyArguments(call, projection)
  const text = isSameJson(call.raw, plain) ? call.raw : plain
  ARGUMENT_TEXTS.set(call, { projection, text })
  return text
}

/** Arguments that are nested too deeply to be serialised go back as they came. */
function stringifyArguments(call: CallPart, projection: ToolDeclarations): string {
  try {
    return JSON.stringify(toWireArguments(call, projection))
  } catch (error) {
    if (error instanceof RangeError) return call.raw
    throw error
  }
}

/** The text of a call that is sent as free text: it was received like this, or the tool is declared like this (T30). */
export function toFreeformText(call: CallPart, context: EncodeContext): string | undefined {
  if (!context.profile.freeTextTools) return undefined
  const isDeclaredFreeform = context.projection.findTool(call.name)?.freeform === true
  if (call.freeform) return isDeclaredFreeform || hasNativeDataFor(call, context) ? toWellFormed(call.raw) : undefined
  const { input, ...more } = call.input ?? {}
  return isDeclaredFreeform && typeof input === 'string' && Object.keys(more).length === 0
    ? toWellFormed(input)
    : undefined
}

const ARGUMENT_TEXTS = new WeakMap<CallPart, { projection: ToolDeclarations; text: string }>()

/** Sent where a history would otherwise have two assistant messages in a row, or start or end with one. */
const CONTINUE_STEP: TranscriptStep = { kind: 'user', parts: [{ kind: 'text', text: '(continue)' }] }

function hasResults(step: TranscriptStep | undefined): boolean {
  return step?.kind === 'assistant' && step.pairs.length > 0
}

function isWorthSending(part: AssistantPart, scope: EncodeContext): boolean {
  switch (part.kind) {
    case 'call':
      return part.name !== ''
    case 'text':
      return part.text.trim() !== '' || getReplayableData(part, scope) !== undefined
    case 'reasoning':
    case 'media':
      return true
    default:
      return part satisfies never
  }
}

/** Gives each call an id that is valid on the wire and unique (T10, T11, T95–T97). */
function createIdGenerator(context: EncodeContext, idPattern: RegExp, used: IdRegistry): (call: CallPart) => string {
  const { profile, projection } = context

  function createId(call: CallPart, attempt: number): string {
    const assigned = attempt === 0 && hasNativeDataFor(call, context) ? call.native?.id : undefined
    if (assigned !== undefined && isAcceptedId(assigned)) return assigned
    if (profile.ids === 'functions') return `functions.${projection.toWireName(call.name)}:${used.count() + attempt}`
    const [pattern, length] = profile.ids === 'nine' ? ([/^[A-Za-z0-9]{9}$/, 9] as const) : ([idPattern, 24] as const)
    if (attempt > 0) return base62Hash(`${call.id}#${attempt}`, length)
    return pattern.test(call.id) ? call.id : base62Hash(call.id, length)
  }

  /** Other servers of an API accept what they assigned; the vendor itself accepts only its own pattern, whoever wrote the history. */
  function isAcceptedId(id: string): boolean {
    const isVendor = profile.signer === context.wire && profile.ids === 'any'
    return isVendor ? idPattern.test(id) : id.trim() !== '' && toWellFormed(id) === id
  }

  return (call) => {
    let id = createId(call, 0)
    for (let attempt = 1; used.has(id); attempt++) id = createId(call, attempt)
    used.add(id)
    return id
  }
}

function isSameJson(raw: string, plain: string): boolean {
  try {
    const value: unknown = JSON.parse(raw)
    return isObject(value) && JSON.stringify(value) === plain
  } catch {
    // Not JSON, or nested too deeply to be serialised.
    return raw === plain
  }
}
