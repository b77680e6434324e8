import { isObject } from '../model/json.ts'
import type { Entry } from './entry.ts'

/**
 * The schema of a log's entries: does this value have the shape of an entry that this version writes? A log may have been
 * written by another program or a later version, so nothing in it is used before it has passed here. Hand-written checks,
 * because every line of every log that is opened goes through them.
 */
export function isEntry(value: unknown): value is Entry {
  if (!isObject(value) || !isSeq(value['seq']) || !isTime(value['at'])) return false
  const kind = value['kind']
  return typeof kind === 'string' && Object.hasOwn(KINDS, kind) && KINDS[kind as Entry['kind']](value)
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

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isName: Check = (value) => typeof value === 'string' && value !== ''
const isTrue: Check = (value) => value === true
const isBoolean: Check = (value) => typeof value === 'boolean'
/** A clock that is set back in mid-run makes a duration negative. */
const isDuration: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const isCount: Check = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0
const isWhole: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isTime: Check = (value) => typeof value === 'number' && Math.abs(value) <= MAX_TIME
const isJson: Check = (value) => value !== undefined && depthWithin(value, MAX_DEPTH)
const isJsonObject: Check = (value) => isObject(value) && depthWithin(value, MAX_DEPTH)

function depthWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0) return false
  if (Array.isArray(value)) return value.every((inner) => depthWithin(inner, depth - 1))
  for (const key in value) if (!depthWithin((value as Record<string, unknown>)[key], depth - 1)) return false
  return true
}

const oneOf = (...words: readonly string[]): Check => {
  const known = new Set<unknown>(words)
  return (value) => known.has(value)
}

const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)

/** An object with these fields; those of `optional` may be absent. Further fields are allowed: a later version may add some. */
function record(required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check {
  const [must, may] = [Object.entries(required), Object.entries(optional)]
  return (value) =>
    isObject(value) &&
    must.every(([key, check]) => check(value[key])) &&
    may.every(([key, check]) => value[key] === undefined || check(value[key]))
}

/** A value of a union whose `kind` says which. */
function union(members: Readonly<Record<string, Check>>): Check {
  return (value) => {
    const kind = isObject(value) ? value['kind'] : undefined
    return typeof kind === 'string' && Object.hasOwn(members, kind) && (members[kind]?.(value) ?? false)
  }
}

const native = record({ wire: isText, signer: isText }, { id: isText, data: isJson })
const text = record({ text: isText }, { refusal: isTrue, native })
const reasoning = record({ text: isText }, { native })
const media = record(
  { mime: isText },
  { data: isText, uri: isText, name: isText, blob: isText, bytes: isCount, native },
)
const flaw = record({ code: isText, message: isText })
const call = record({ id: isName, name: isText, raw: isText }, { input: isJsonObject, freeform: isTrue, flaw, native })
const spoken = listOf(union({ text, media }))
const result = record(
  {
    kind: oneOf('result'),
    id: isName,
    name: isText,
    status: oneOf('ok', 'error', 'denied', 'cancelled', 'interrupted'),
    content: spoken,
  },
  { data: isJson, display: isJson, error: record({ message: isText }, { type: isText }), native },
)
const usage = record(
  {},
  { input: isCount, cacheRead: isCount, cacheWrite: isCount, output: isCount, reasoning: isCount },
)
const finish = record(
  { reason: oneOf('stop', 'calls', 'length', 'filter', 'malformed-call', 'aborted', 'fault') },
  { raw: isText, fault: isJsonObject },
)
const assistantTurn = record(
  {
    role: oneOf('assistant'),
    origin: record({ provider: isText, wire: isText, model: isText }),
    parts: listOf(union({ text, reasoning, media, call })),
    finish,
  },
  { usage },
)
const kept = record({ blob: isText, mode: isWhole })
const parent = record({ session: isName, seq: isSeq })

/** A result is found by the id of its call, so two calls of one turn cannot share one. */
function hasUniqueIds(value: unknown): boolean {
  const { parts } = (value as Entry & { kind: 'turn' }).turn
  const ids = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []))
  return new Set(ids).size === ids.length
}

const turn = record(
  { turn: assistantTurn, prompt: isText, ms: isDuration },
  { warnings: listOf(record({ code: isText, message: isText })) },
)

const KINDS: Readonly<Record<Entry['kind'], Check>> = {
  open: record({ version: isWhole, session: isText, folder: isText }, { parent }),
  user: record({ parts: spoken, prompt: isText }, { own: isText, foreign: isTrue }),
  note: record({ text: isText }, { topic: isText, plan: isBoolean }),
  turn: (value) => turn(value) && hasUniqueIds(value),
  intent: record({ call: isText, name: isText, input: isJsonObject }, { access: oneOf('network', 'outside') }),
  result: record({ result, ms: isDuration }, { decision: isText, facts: isJsonObject }),
  ask: record({ ask: isText, call: isText, details: isJsonObject }),
  reply: record(
    { ask: isText, outcome: isText },
    { words: isText, input: isJsonObject, grant: isJsonObject, scope: isText, access: isText },
  ),
  compact: record(
    { summary: isText, keep: isWhole, before: isCount, after: isCount },
    { ms: isDuration, usage: isJson },
  ),
  request: record({ model: isText, prompt: isText, bytes: isCount }, { summary: isTrue, prefix: isJson }),
  fault: record({ fault: isJsonObject, prompt: isText }, { usage: isJson }),
  change: record({ path: isName }, { before: kept, after: isText, folders: listOf(isName) }),
  undo: record({ back: isWhole, since: isWhole }, { redo: isWhole, left: listOf(isText) }),
  close: record({ prompt: isText, reason: isText }),
}
