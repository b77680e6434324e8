import type { DialectReader, ReadResult } from './dialect.ts'
import {
  GAP_PATTERN,
  INCOMPLETE,
  createBroken,
  createPattern,
  matchAt,
  skipWhitespace,
  toIncompleteOrProse,
} from './dialect.ts'
import { toObjectJson, type SchemaShape, readSchemaShape, toValueJson } from '../argument-values.ts'

export const MINIMAX_CALL_MARKER = ']<]minimax[>['

/** MiniMax M3 (T64): `<invoke name="x"><key>value</key></invoke>` with nested elements, and a token before each tag. */
export const readMinimaxCall: DialectReader = (text, at, scope) => {
  const head = matchAt(CALL_HEAD, text, at)
  if (!head) return toIncompleteOrProse(text, at, scope)
  const name = (head.groups?.['name'] ?? '').trim()
  const body = readElements(text, at + head[0].length, readSchemaShape(scope.findSchema(name)), 0)
  if ('kind' in body) return body
  if (body.closer !== 'invoke') return createBroken(MISNESTED)
  const raw = toObjectOnce(body.members)
  return raw === undefined
    ? createBroken('an element is repeated')
    : { kind: 'calls', end: body.end, calls: [{ name, raw }] }
}

const MISNESTED = 'the elements are not nested correctly'
const STRAY_TEXT = 'there is text between the elements'

const TOKEN_PATTERN = MINIMAX_CALL_MARKER.replace(/[[\]]/g, '\\$&')
const CALL_HEAD = createPattern(
  `(?:${TOKEN_PATTERN}\\s{0,8}<tool_call>${GAP_PATTERN})?${TOKEN_PATTERN}\\s{0,8}<invoke\\s{1,4}name="(?<name>[^"<>]{1,128})"\\s?>`,
)
const TAG = createPattern(`${TOKEN_PATTERN}\\s{0,8}<(?<slash>/?)(?<tag>[\\w.-]{1,128})>`)

type Member = readonly [key: string, value: string]

interface ElementList {
  readonly members: readonly Member[]
  /** The tag that closed the element that contains these. */
  readonly closer: string
  readonly end: number
}

/** Reads elements up to the closing tag of the element that contains them. */
function readElements(text: string, from: number, shape: SchemaShape, depth: number): ElementList | ReadResult {
  if (depth > 32) return createBroken('the elements are nested too deeply')
  const members: Member[] = []
  for (let at = from; ;) {
    at = skipWhitespace(text, at)
    const tag = matchAt(TAG, text, at)
    if (!tag) return incompleteOrBroken(text, at)
    const name = tag.groups?.['tag'] ?? ''
    at += tag[0].length
    if (tag.groups?.['slash'] === '/') return { members, closer: name, end: at }
    const inner = shape.types?.has('array') ? shape.items() : shape.property(name)
    const next = text.indexOf(MINIMAX_CALL_MARKER, at)
    if (next < 0) return INCOMPLETE
    const after = matchAt(TAG, text, next)
    if (!after) return incompleteOrBroken(text, next)
    if (after.groups?.['slash'] === '/') {
      if (after.groups['tag'] !== name) return createBroken(MISNESTED)
      members.push([name, toEmptyJson(text.slice(at, next), inner) ?? toValueJson(text.slice(at, next), inner)])
      at = next + after[0].length
      continue
    }
    if (skipWhitespace(text, at) !== next) return createBroken(STRAY_TEXT)
    const inside = readElements(text, next, inner, depth + 1)
    if ('kind' in inside) return inside
    const value = inside.closer === name ? toNestedJson(inside.members, inner) : undefined
    if (value === undefined) return createBroken(MISNESTED)
    members.push([name, value])
    at = inside.end
  }
}

/** Nested elements are an array if the schema says so, or if it says nothing and all are named `item`. */
function toNestedJson(members: readonly Member[], shape: SchemaShape): string {
  const items = members.every(([key]) => key === 'item')
  const values = new Map<string, string[]>()
  for (const [key, value] of members) values.set(key, [...(values.get(key) ?? []), value])
  if (shape.types ? shape.types.has('array') : items) return toArrayJson(members.map(([, value]) => value))
  // An element that is repeated is a list.
  return toObjectJson([...values].map(([key, list]) => [key, list.length > 1 ? toArrayJson(list) : (list[0] ?? '')]))
}

/** An element without content is an empty list or object, if the schema says so. */
function toEmptyJson(value: string, { types }: SchemaShape): string | undefined {
  if (value.trim() !== '' || !types || types.has('string')) return undefined
  return types.has('object') ? '{}' : types.has('array') ? '[]' : undefined
}

function toArrayJson(values: readonly string[]): string {
  return `[${values.join(',')}]`
}

function toObjectOnce(members: readonly Member[]): string | undefined {
  return new Set(members.map(([key]) => key)).size === members.length ? toObjectJson(members) : undefined
}

function incompleteOrBroken(text: string, at: number): ReadResult {
  return text.length - at < 160 ? INCOMPLETE : createBroken(STRAY_TEXT)
}
