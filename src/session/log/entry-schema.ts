import { isObject } from '../../model/json.ts'
import type { SandboxAccess } from '../../model/security/sandbox-access.ts'
import type { AssistantPart, FinishReason, ResultPart, ResultStatus } from '../../model/turn.ts'
import type { Entry } from './entry.ts'

/**
 * Does a value have the shape of a log entry? A log may come from another program or a later version, so every line is
 * checked before it is used; the checks are hand-written because they must be fast.
 */
export function isEntry(value: unknown): value is Entry {
  if (!isObject(value) || !isSeq(value['seq']) || !isTime(value['at'])) return false
  const kind = value['kind']
  return (
    typeof kind === 'string' && Object.hasOwn(ENTRY_VALIDATORS, kind) && ENTRY_VALIDATORS[kind as Entry['kind']](value)
  )
}

/** The limit leaves room for the numbers of the next entries. */
export function isSeq(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < MAX_SEQ
}

const MAX_SEQ = 2 ** 52

/** The largest time that a `Date` can hold. */
const MAX_TIME = 8.64e15

/** Deeper JSON would overflow the stack when it is written again. */
const MAX_DEPTH = 500

type Validator = (value: unknown) => boolean

const isString: Validator = (value) => typeof value === 'string'
const isNonEmptyString: Validator = (value) => typeof value === 'string' && value !== ''
const isTrue: Validator = (value) => value === true
const isBoolean: Validator = (value) => typeof value === 'boolean'
/** May be negative, if the clock was set back. */
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

/** The members of a union, as keys, so that a new member does not compile until it is listed. */
const createEnumValidator =
  <T extends string>(members: Readonly<Record<T, true>>): Validator =>
  (value) =>
    typeof value === 'string' && Object.hasOwn(members, value)

const createListValidator =
  (check: Validator): Validator =>
  (value) =>
    Array.isArray(value) && value.every(check)

/** Other fields are allowed, because later versions may add some. */
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

function createUnionValidator<Kind extends string>(members: Readonly<Record<Kind, Validator>>): Validator {
  return (value) => {
    const kind = isObject(value) ? value['kind'] : undefined
    return typeof kind === 'string' && Object.hasOwn(members, kind) && members[kind as Kind](value)
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
const isContentList = createListValidator(
  createUnionValidator<ResultPart['content'][number]['kind']>({ text: isTextPart, media: isMediaPart }),
)
const isResultPart = createObjectValidator(
  {
    kind: createEnumValidator<'result'>({ result: true }),
    id: isNonEmptyString,
    name: isString,
    status: createEnumValidator<ResultStatus>({
      ok: true,
      error: true,
      denied: true,
      cancelled: true,
      interrupted: true,
    }),
    content: isContentList,
  },
  {
    data: isJson,
    display: isJson,
    error: createObjectValidator({ message: isString }, { type: isString }),
    foundTools: createListValidator(isString),
    native: isNativeData,
  },
)
const isToolSpec = createObjectValidator(
  { name: isNonEmptyString, description: isString, schema: isJsonObject },
  { freeform: isBoolean, grammar: isJsonObject, namespace: isJsonObject, deferred: isBoolean, native: isNativeData },
)
const isUsage = createObjectValidator(
  {},
  { input: isCount, cacheRead: isCount, cacheWrite: isCount, output: isCount, reasoning: isCount },
)
const FINISH_REASONS = {
  stop: true,
  calls: true,
  length: true,
  filter: true,
  'malformed-call': true,
  aborted: true,
  fault: true,
} as const
const isFinish = createObjectValidator(
  { reason: createEnumValidator<FinishReason>(FINISH_REASONS) },
  { raw: isString, fault: isJsonObject, native: isNativeData },
)
const isAssistantTurn = createObjectValidator(
  {
    role: createEnumValidator<'assistant'>({ assistant: true }),
    origin: createObjectValidator({ provider: isString, wire: isString, model: isString }),
    parts: createListValidator(
      createUnionValidator<AssistantPart['kind']>({
        text: isTextPart,
        reasoning: isReasoningPart,
        media: isMediaPart,
        call: isCallPart,
      }),
    ),
    finish: isFinish,
  },
  { usage: isUsage },
)
const isFileSnapshot = createObjectValidator({ blob: isString, mode: isNonNegativeInteger })
const isForkPoint = createObjectValidator({ session: isNonEmptyString, seq: isSeq })

const isSubagentOrigin = createObjectValidator({ session: isNonEmptyString, call: isString, name: isString })

/** A result is found by the id of its call, so the ids of a turn must differ. */
function hasUniqueIds(value: unknown): boolean {
  const { parts } = (value as Entry & { kind: 'turn' }).turn
  const ids = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []))
  return new Set(ids).size === ids.length
}

const isTurnBody = createObjectValidator(
  { turn: isAssistantTurn, prompt: isString, ms: isDuration },
  {
    warnings: createListValidator(createObjectValidator({ code: isString, message: isString })),
    response: isString,
    cacheDiagnosis: createObjectValidator({ reason: isString }, { missedTokens: isCount }),
  },
)

const ENTRY_VALIDATORS: Readonly<Record<Entry['kind'], Validator>> = {
  open: createObjectValidator(
    { version: isNonNegativeInteger, session: isString, folder: isString },
    { parent: isForkPoint, subagent: isSubagentOrigin },
  ),
  user: createObjectValidator(
    { parts: isContentList, prompt: isString },
    { own: isString, message: isString, foreign: isTrue },
  ),
  settings: createObjectValidator({ settings: isJsonObject }),
  note: createObjectValidator(
    { text: isString },
    {
      topic: isString,
      subagent: isString,
      plan: isBoolean,
      tools: createListValidator(isToolSpec),
      removedTools: createListValidator(isString),
    },
  ),
  turn: (value) => isTurnBody(value) && hasUniqueIds(value),
  intent: createObjectValidator(
    { call: isString, name: isString, input: isJsonObject },
    { access: createEnumValidator<SandboxAccess>({ network: true, outside: true }) },
  ),
  subagent: createObjectValidator(
    { call: isString, session: isNonEmptyString, name: isString },
    { isBackground: isTrue },
  ),
  result: createObjectValidator(
    { result: isResultPart, ms: isDuration },
    {
      decided: createObjectValidator({ by: isString, outcome: isString }, { rule: isString }),
      decision: isString,
      facts: isJsonObject,
    },
  ),
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
