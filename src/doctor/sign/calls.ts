import { isObject } from '../../model/json.ts'
import type { Piece } from '../look/look.ts'
import type { Sign } from '../sign.ts'
import { groups, texts, type View, word } from '../view.ts'

/** What can be odd about calls: their numbers, ids, names and arguments. */
export const CALL_SIGNS: readonly Sign[] = [
  {
    id: 'index-missing',
    taught: 'T01',
    said: 'does not number the pieces of its calls',
    outcome: 'handled',
    seen: ({ look }) => look.numbers.includes(null) || look.pieces.some(({ index }) => index === null),
  },
  {
    id: 'index-zero',
    taught: 'T02',
    said: 'gives every call the index 0',
    outcome: 'handled',
    seen: ({ wire, look }) =>
      wire === 'openai-chat' &&
      groups(look).some((group) => new Set(opening(group).flatMap(({ id }) => word(id) ?? [])).size > 1),
  },
  {
    id: 'index-sparse',
    taught: 'T04',
    said: 'leaves gaps in the numbers of its calls',
    outcome: 'handled',
    seen: ({ look }) => {
      const known = [...new Set(look.numbers.filter((one) => one !== null))].sort((a, b) => a - b)
      return known.some((number, at) => number !== at)
    },
  },
  {
    id: 'ids-missing',
    taught: 'T06',
    said: 'gives its calls no ids',
    outcome: 'handled',
    // Code Assist has none to begin with.
    seen: ({ wire, look }) =>
      wire !== 'code-assist' &&
      calls(look.pieces).some(
        (group) => group.some(({ name }) => word(name)) && group.every(({ id }) => id === undefined || id === null),
      ),
  },
  {
    id: 'ids-empty',
    taught: 'T07',
    said: 'gives its calls empty ids',
    outcome: 'handled',
    seen: ({ look }) => look.pieces.some(({ id, name }) => id === '' && word(name) !== undefined),
  },
  {
    id: 'ids-same',
    taught: 'T10',
    said: 'gives several calls the same id',
    outcome: 'handled',
    seen: ({ look }) => {
      const ids = calls(look.pieces).flatMap((group) => word(group[0]?.id) ?? [])
      return new Set(ids).size < ids.length
    },
  },
  {
    id: 'ids-rotating',
    taught: 'T09, T141',
    said: 'gives each piece of a call another id',
    outcome: 'handled',
    seen: ({ look }) =>
      groups(look).some((group) => {
        const items = new Set(group.flatMap(({ item }) => word(item) ?? []))
        const strays = group.slice(1).filter(({ id, opens, closing }) => word(id) && !opens && !closing)
        return items.size > 1 || strays.some(({ id }) => id !== group[0]?.id)
      }),
  },
  {
    id: 'name-split',
    taught: 'T13',
    said: 'sends the name of a tool in pieces',
    outcome: 'handled',
    seen: ({ wire, look }) =>
      wire === 'openai-chat' && groups(look).some((group) => laterNames(group).some((same) => !same)),
  },
  {
    id: 'name-repeated',
    taught: 'T12',
    said: 'repeats the name of the tool with every piece of a call',
    outcome: 'handled',
    seen: ({ wire, look }) => wire === 'openai-chat' && groups(look).some((group) => laterNames(group).includes(true)),
  },
  {
    id: 'name-late',
    taught: 'T14',
    said: 'sends the name of a tool after its arguments',
    outcome: 'handled',
    seen: ({ wire, look }) =>
      wire === 'openai-chat' &&
      groups(look).some((group) => word(group[0]?.name) === undefined && group.some(({ name }) => word(name))),
  },
  {
    id: 'arguments-cumulative',
    taught: 'T20',
    said: 'sends all arguments so far with every piece',
    outcome: 'handled',
    seen: ({ look }) =>
      groups(look).some((group) => {
        const all = texts(group)
        return (
          all.length > 1 &&
          all.every(
            (text, at) => at === 0 || (text.length > (all[at - 1] ?? '').length && text.startsWith(all[at - 1] ?? '')),
          )
        )
      }),
  },
  {
    id: 'arguments-repeated',
    taught: 'T21',
    said: 'sends all arguments once more after the last piece',
    outcome: 'handled',
    seen: ({ look }) =>
      groups(look).some((group) => {
        const all = texts(group)
        return all.length > 1 && all.at(-1) === all.slice(0, -1).join('') && isJson(all.at(-1) ?? '')
      }),
  },
  {
    id: 'arguments-object',
    taught: 'T16',
    said: 'sends arguments as an object where the wire wants text',
    outcome: 'handled',
    seen: ({ look }) => look.pieces.some((piece) => isObject(piece.arguments)),
  },
  {
    id: 'arguments-doubled',
    taught: 'T31',
    said: 'writes arguments as text inside text',
    outcome: 'handled',
    seen: ({ look }) =>
      calls(look.pieces).some(
        (group) => typeof parsed(texts(group).join('')) === 'string' && isJson(String(parsed(texts(group).join('')))),
      ),
  },
  {
    id: 'interleaved',
    taught: 'T05',
    said: 'sends the pieces of several calls in turns',
    outcome: 'handled',
    seen: ({ look }) => {
      const order = look.pieces.flatMap(({ index, closing }) => (typeof index === 'number' && !closing ? [index] : []))
      const runs = order.filter((index, at) => index !== order[at - 1])
      return new Set(runs).size < runs.length
    },
  },
  {
    id: 'ghost-call',
    taught: 'T08, T28',
    said: 'makes calls of nothing',
    outcome: 'handled',
    seen: ({ look }) => calls(look.pieces).some((group) => group.every(isNothing)),
  },
  {
    id: 'malformed-call',
    taught: 'T41, T124',
    said: 'makes calls that cannot be read',
    outcome: 'retried',
    seen: isMalformed,
  },
]

/** The pieces of each call: under one number, or each for itself where there are none. */
function calls(pieces: readonly Piece[]): Piece[][] {
  const numbered = groups({ pieces } as Parameters<typeof groups>[0])
  const alone = pieces.filter(
    ({ index, opens, name }) => index === undefined || (index === null && opens && word(name)),
  )
  return [...numbered, ...alone.map((piece) => [piece])]
}

function opening(group: readonly Piece[]): Piece[] {
  return group.filter(({ opens, name }) => opens && word(name) !== undefined)
}

/** For each later piece that names the tool again and is no new call: is it the same name? */
function laterNames(group: readonly Piece[]): boolean[] {
  const [first] = group
  const known = word(first?.name)
  if (known === undefined) return []
  return group.slice(1).flatMap(({ name, id }) => (word(name) && !word(id) ? [name === known] : []))
}

function isNothing({ id, name, arguments: args }: Piece): boolean {
  return !word(id) && !word(name) && (args === undefined || args === '')
}

function isMalformed({ last, exam: { turn } }: View): boolean {
  if (!last || turn.finish.fault) return false
  const flawed = turn.parts.some((part) => part.kind === 'call' && part.flaw?.code.startsWith('not-'))
  return turn.finish.reason === 'malformed-call' || flawed
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isJson(text: string): boolean {
  return isObject(parsed(text))
}
