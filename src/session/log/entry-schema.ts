import { isObject } from '../../model/json.ts'
import type { Entry } from './entry.ts'

/**
 * The schema of a log's entries: does this value have the shape of an entry that this version writes? A log may have been
 * written by another program or a later version, so nothing in it is used before it has passed here. Hand-written checks,
 * because every line of every log that is opened goes through them.
 */
export function isEntry(value: unknown): value is Entry {
  if (!isObject(value) || !isSeq(value['seq']) || !isTime(value['at'])) return false
  const kind = value['kind']
  return (
    typeof kind === 'string' && Object.hasOwn(ENTRY_VALIDATORS, kind) && ENTRY_VALIDATORS[kind as Entry['kind']](value)
  )
}

/** The number of an entry. One that is near the largest integer would leave no number for the next entry. */
export function isSeq(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < MAX_SEQ
}

const MAX_SEQ = 2 ** 52

/** The largest time that a `Date` can hold. */
const MAX_TIME = 8.64e15

/** How deep JSON in an entry may be nested: whoever writes it out again goes down by recursion. */
const MAX_DEPTH = 500

type Validator = (value: unknown) => boolean

const isString: Validator = (value) => typeof value === 'string'
const isNonEmptyString: Validator = (value) => typeof value === 'string' && value !== ''
const isTrue: Validator = (value) => value === true
const isBoolean: Validator = (value) => typeof value === 'boolean'
/** A clock that is set back in mid-run makes a duration negative. */
const isDuration: Validator = (value) => typeof value === 'number' && Number.isFinite(value)
const isCount: Validator = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0
const isNonNegativeInteger: Validator = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isTime: Validator = (value) => typeof value === 'number' && Math.abs(value) <= MAX_TIME
const isJson: Validator = (value) => value !== undefined && isWithinDepth(value, MAX_DEPTH)
const isJsonObject: Validator = (value) => isObject(value) && isWithinDepth(value, MAX_DEPTH)

function isWithinDepth(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0) return false
  if (Array.isArray(value)) return value.every((inner) => isWithinDepth(inner, depth - 1))
  for (const key in value) if (!isWithinDepth((value as Record<string, unknown>)[key], depth - 1)) return false
  return true
}

const createEnumValidator = (...values: readonly string[]): Validator => {
  const allowed = new Set<unknown>(values)
  return (value) => allowed.has(value)
}

const createListValidator =
  (check: Validator): Validator =>
  (value) =>
    Array.isArray(value) && value.every(check)

/** An object with these fields; those of `optional` may be absent. Further fields are allowed: a later version may add some. */
function createObjectValidator(
  required: Readonly<Record<string, Validator>>,
  optional: Readonly<Record<string, Validator>> = {},
): Validator {
  const [requiredFields, optionalFields] = [Object.entries(required), Object.entries(optional)]
  return (value) =>
    isObject(value) &&
    requiredFields.every(([key, check]) => check(value[key])) &&
    optionalFields.every(([key, check]) => value[key] === undefined || check(value[key]))
}

/** A value of a union whose `kind` says which. */
function createUnionValidator(members: Readonly<Record<string, Validator>>): Validator {
  return (value) => {
    const kind = isObject(value) ? value['kind'] : undefined
    return typeof kind === 'string' && Object.hasOwn(members, kind) && (members[kind]?.(value) ?? false)
  }
}

const isNativeData = createObjectValidator({ wire: isString, signer: isString }, { id: isString, data: isJson })
const isTextPart = createObjectValidator({ text: isString }, { refusal: isTrue, name: isString, native: isNativeData })
const isReasoningPart = createObjectValidator({ text: isString }, { native: isNativeData })
const isMediaPart = createObjectValidator(
  { mime: isString },
  { data: isString, uri: isString, name: isString, blob: isString, bytes: isCount, native: isNativeData },
)
const isCallFlaw = createObjectValidator({ code: isString, message: isString })
const isCallPart = createObjectValidator(
  { id: isNonEmptyString, name: isString, raw: isString },
  { input: isJsonObject, freeform: isTrue, flaw: isCallFlaw, native: isNativeData },
)
const isContentList = createListValidator(createUnionValidator({ text: isTextPart, media: isMediaPart }))
const isResultPart = createObjectValidator(
  {
    kind: createEnumValidator('result'),
    id: isNonEmptyString,
    name: isString,
    status: createEnumValidator('ok', 'error', 'denied', 'cancelled', 'interrupted'),
    content: isContentList,
  },
  {
    data: isJson,
    display: isJson,
    error: createObjectValidator({ message: isString }, { type: isString }),
    native: isNativeData,
  },
)
const isUsage = createObjectValidator(
  {},
  { input: isCount, cacheRead: isCount, cacheWrite: isCount, output: isCount, reasoning: isCount },
)
const isFinish = createObjectValidator(
  { reason: createEnumValidator('stop', 'calls', 'length', 'filter', 'malformed-call', 'aborted', 'fault') },
  { raw: isString, fault: isJsonObject },
)
const isAssistantTurn = createObjectValidator(
  {
    role: createEnumValidator('assistant'),
    origin: createObjectValidator({ provider: isString, wire: isString, model: isString }),
    parts: createListValidator(
      createUnionValidator({ text: isTextPart, reasoning: isReasoningPart, media: isMediaPart, call: isCallPart }),
    ),
    finish: isFinish,
  },
  { usage: isUsage },
)
const isFileSnapshot = createObjectValidator({ blob: isString, mode: isNonNegativeInteger })
const isForkPoint = createObjectValidator({ session: isNonEmptyString, seq: isSeq })

/** A result is found by the id of its call, so two calls of one turn cannot share one. */
function hasUniqueIds(value: unknown): boolean {
  const { parts } = (value as Entry & { kind: 'turn' }).turn
  const ids = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []))
  return new Set(ids).size === ids.length
}

const isTurnBody = createObjectValidator(
  { turn: isAssistantTurn, prompt: isString, ms: isDuration },
  { warnings: createListValidator(createObjectValidator({ code: isString, message: isString })) },
)

const ENTRY_VALIDATORS: Readonly<Record<Entry['kind'], Validator>> = {
  open: createObjectValidator(
    { version: isNonNegativeInteger, session: isString, folder: isString },
    { parent: isForkPoint },
  ),
  user: createObjectValidator({ parts: isContentList, prompt: isString }, { own: isString, foreign: isTrue }),
  note: createObjectValidator({ text: isString }, { topic: isString, plan: isBoolean }),
  turn: (value) => isTurnBody(value) && hasUniqueIds(value),
  intent: createObjectValidator(
    { call: isString, name: isString, input: isJsonObject },
    { access: createEnumValidator('network', 'outside') },
  ),
  result: createObjectValidator({ result: isResultPart, ms: isDuration }, { decision: isString, facts: isJsonObject }),
  ask: createObjectValidator({ ask: isString, call: isString, details: isJsonObject }),
  reply: createObjectValidator(
    { ask: isString, outcome: isString },
    { words: isString, input: isJsonObject, grant: isJsonObject, scope: isString, access: isString },
  ),
  compact: createObjectValidator(
    { summary: isString, keep: isNonNegativeInteger, before: isCount, after: isCount },
    { ms: isDuration, usage: isJson },
  ),
  request: createObjectValidator(
    { model: isString, prompt: isString, bytes: isCount },
    { summary: isTrue, prefix: isJson },
  ),
  fault: createObjectValidator({ fault: isJsonObject, prompt: isString }, { usage: isJson }),
  change: createObjectValidator(
    { path: isNonEmptyString },
    { before: isFileSnapshot, after: isString, folders: createListValidator(isNonEmptyString) },
  ),
  undo: createObjectValidator(
    { back: isNonNegativeInteger, since: isNonNegativeInteger },
    { redo: isNonNegativeInteger, left: createListValidator(isString) },
  ),
  close: createObjectValidator({ prompt: isString, reason: isString }),
}
