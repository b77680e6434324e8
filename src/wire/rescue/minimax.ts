import type { JsonObject } from '../../model/json.ts'
import { broken, GAP, match, OPEN, pattern, type Read, type Reader, skipSpace, undecided } from './dialect.ts'
import { objectText, type Shape, shapeOf, valueText } from './values.ts'

/** The token that MiniMax M3 puts before every tag. */
export const SPACE_TOKEN = ']<]minimax[>['

/**
 * MiniMax M3: `<invoke name="x"><key>value</key></invoke>`, each tag after its own token, objects and arrays as elements
 * inside elements (T64). The token never stands in a value, so this form has no doubtful ends.
 */
export const readMinimax: Reader = (text, at, scope) => {
  const head = match(HEAD, text, at)
  if (!head) return undecided(text, at, scope)
  const name = (head.groups?.['name'] ?? '').trim()
  const schema: JsonObject | undefined = scope.schema(name)
  const body = readElements(text, at + head[0].length, shapeOf(schema), 0)
  if ('kind' in body) return body
  if (body.closer !== 'invoke') return broken('its elements are crossed')
  const raw = body.members.length === 0 ? '{}' : asObject(body.members)
  return raw === undefined
    ? broken('it has an element twice')
    : { kind: 'calls', end: body.end, calls: [{ name, raw }] }
}

const MARK = SPACE_TOKEN.replace(/[[\]]/g, '\\$&')
const HEAD = pattern(
  `(?:${MARK}\\s{0,8}<tool_call>${GAP})?${MARK}\\s{0,8}<invoke\\s{1,4}name="(?<name>[^"<>]{1,128})"\\s?>`,
)
const TAG = pattern(`${MARK}\\s{0,8}<(?<slash>/?)(?<tag>[\\w.-]{1,128})>`)

type Member = readonly [key: string, value: string]

interface Elements {
  readonly members: readonly Member[]
  /** The tag that closed the element around these. */
  readonly closer: string
  readonly end: number
}

/** Reads elements up to the tag that closes what is around them. */
function readElements(text: string, from: number, shape: Shape, depth: number): Elements | Read {
  if (depth > 32) return broken('its elements are too deep')
  const members: Member[] = []
  for (let at = from; ;) {
    at = skipSpace(text, at)
    const tag = match(TAG, text, at)
    if (!tag) return shortOf(text, at)
    const name = tag.groups?.['tag'] ?? ''
    at += tag[0].length
    if (tag.groups?.['slash'] === '/') return { members, closer: name, end: at }
    const inner = shape.types?.has('array') ? shape.items() : shape.property(name)
    const next = text.indexOf(SPACE_TOKEN, at)
    if (next < 0) return OPEN
    const after = match(TAG, text, next)
    if (!after) return shortOf(text, next)
    if (after.groups?.['slash'] === '/') {
      if (after.groups['tag'] !== name) return broken('its elements are crossed')
      members.push([name, valueText(text.slice(at, next), inner)])
      at = next + after[0].length
      continue
    }
    if (skipSpace(text, at) !== next) return broken('it has text between its elements')
    const inside = readElements(text, next, inner, depth + 1)
    if ('kind' in inside) return inside
    const value = inside.closer === name ? nested(inside.members, inner) : undefined
    if (value === undefined) return broken('its elements are crossed')
    members.push([name, value])
    at = inside.end
  }
}

/** Elements inside an element are an array if the schema says so, or if it is silent and all are called `item`. */
function nested(members: readonly Member[], shape: Shape): string | undefined {
  const items = members.every(([key]) => key === 'item')
  if (shape.types ? shape.types.has('array') : items) return `[${members.map(([, value]) => value).join(',')}]`
  return asObject(members)
}

function asObject(members: readonly Member[]): string | undefined {
  return new Set(members.map(([key]) => key)).size === members.length ? objectText(members) : undefined
}

function shortOf(text: string, at: number): Read {
  return text.length - at < 160 ? OPEN : broken('it has text between its elements')
}
