import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import type { Misbehaviour } from '../misbehaviour.ts'
import type { Frame } from '../write-answer.ts'

/** What goes wrong with the pieces of calls. */
export function alterCalls(frames: Frame[], one: Misbehaviour, wire: WireId): Frame[] {
  switch (one.kind) {
    case 'index-missing':
      return numbered(frames, wire, () => undefined)
    case 'index-zero':
      return numbered(frames, wire, () => 0)
    case 'index-sparse':
      return numbered(frames, wire, (index) => index * 2 + 1)
    case 'ids-rotating':
      return rotating(frames, wire)
    case 'name-split':
      return frames.flatMap((frame) => splitName(frame))
    case 'name-repeated':
      return withNames(frames, () => true)
    case 'name-late':
      return lateNames(frames)
    case 'arguments-cumulative':
      return cumulative(frames, wire)
    case 'arguments-repeated':
      return repeated(frames, wire)
    case 'interleaved':
      return interleaved(frames)
    case 'ghost-call':
      return ghost(frames, wire)
    default:
      return frames
  }
}

/** Changes or leaves out the number by which a wire tells calls, items or blocks apart. */
function numbered(frames: Frame[], wire: WireId, change: (index: number) => number | undefined): Frame[] {
  const key = wire === 'openai-responses' ? 'output_index' : 'index'
  const renumber = (value: JsonObject): JsonObject => {
    const { [key]: index, ...rest } = value
    if (typeof index !== 'number') return value
    const next = change(index)
    return next === undefined ? rest : { [key]: next, ...rest }
  }
  return frames.map((frame) => {
    if (wire === 'openai-chat') return onCall(frame, renumber)
    return isObject(frame.data) ? { ...frame, data: renumber(frame.data) } : frame
  })
}

/** Each event has an id of its own (T09, T141). */
function rotating(frames: Frame[], wire: WireId): Frame[] {
  return frames.map((frame, at) => {
    if (frame.call === undefined) return frame
    if (wire === 'openai-chat')
      return frame.spot === 'arguments' ? onCall(frame, (call) => ({ ...call, id: `call_r${at}` })) : frame
    const data = frame.data as JsonObject
    const item = isObject(data['item']) ? { item: { ...data['item'], id: `fc_r${at}` } as JsonObject } : {}
    return { ...frame, data: { ...data, ...item, ...('item_id' in data && { item_id: `fc_r${at}` }) } }
  })
}

function splitName(frame: Frame): Frame[] {
  const name = frame.spot === 'call' ? nameOf(frame) : undefined
  if (name === undefined) return [frame]
  const middle = Math.ceil(name.length / 2)
  const piece = (part: string) => onFunction(frame, (inner) => ({ ...inner, name: part }))
  const second = onCall(piece(name.slice(middle)), ({ id: _id, ...rest }) => rest)
  return [piece(name.slice(0, middle)), second]
}

/** Puts the name of its call on each piece that is wanted. */
function withNames(frames: Frame[], wanted: (frame: Frame, at: number) => boolean): Frame[] {
  const names = new Map<number, string>()
  return frames.map((frame, at) => {
    const name = nameOf(frame)
    if (name !== undefined && frame.call !== undefined && frame.spot === 'call') names.set(frame.call, name)
    const known = frame.call === undefined ? undefined : names.get(frame.call)
    if (frame.spot !== 'arguments' || known === undefined || !wanted(frame, at)) return frame
    return onFunction(frame, (inner) => ({ name: known, ...inner }))
  })
}

/** The name comes with the last piece only (T14). */
function lateNames(frames: Frame[]): Frame[] {
  const last = new Map(frames.map((frame, at) => [frame.spot === 'arguments' ? frame.call : undefined, at]))
  const named = withNames(frames, (frame, at) => last.get(frame.call) === at)
  return named.map((frame) => (frame.spot === 'call' ? onFunction(frame, ({ name: _name, ...rest }) => rest) : frame))
}

/** Each piece of arguments is everything so far (T20). */
function cumulative(frames: Frame[], wire: WireId): Frame[] {
  const so = new Map<number, string>()
  return frames.map((frame) => {
    const piece = argumentsIn(frame, wire)
    if (piece === undefined || frame.call === undefined) return frame
    const all = (so.get(frame.call) ?? '') + piece
    so.set(frame.call, all)
    return withArguments(frame, wire, all)
  })
}

/** After the last piece the whole arguments come once more (T21). */
function repeated(frames: Frame[], wire: WireId): Frame[] {
  const last = new Map(frames.map((frame, at) => [frame.spot === 'arguments' ? frame.call : undefined, at]))
  const all = cumulative(frames, wire)
  return frames.flatMap((frame, at) => {
    const whole = frame.spot === 'arguments' && last.get(frame.call) === at ? all[at] : undefined
    return whole ? [frame, whole] : [frame]
  })
}

/** The calls begin one after another, and then their pieces take turns (T05). */
function interleaved(frames: Frame[]): Frame[] {
  const calls = frames.filter(({ call }) => call !== undefined)
  const rounds = new Map<number, number>()
  const ordered = calls
    .map((frame) => {
      const round = rounds.get(frame.call ?? 0) ?? 0
      rounds.set(frame.call ?? 0, round + 1)
      return { frame, key: frame.spot === 'call' ? 0 : frame.spot === 'arguments' ? 1 + round : Infinity }
    })
    .sort((a, b) => (a.key === b.key ? 0 : a.key - b.key))
    .map(({ frame }) => frame)
  const first = frames.findIndex(({ call }) => call !== undefined)
  const others = frames.filter(({ call }) => call === undefined)
  return first < 0 ? frames : [...others.slice(0, first), ...ordered, ...others.slice(first)]
}

/** A call of which nothing ever comes (T08, T28). */
function ghost(frames: Frame[], wire: WireId): Frame[] {
  const end = frames.findIndex(({ spot }) => spot === 'end')
  const model = frames[Math.max(0, end)]
  if (!model) return frames
  const haunted = wire === 'openai-chat' ? chatGhost(model, frames) : geminiGhost(model)
  return [...frames.slice(0, end), haunted, ...frames.slice(end)]
}

function chatGhost(model: Frame, frames: readonly Frame[]): Frame {
  const data = model.data as JsonObject
  const index = new Set(frames.flatMap(({ call }) => call ?? [])).size
  const call = { index, id: '', type: 'function', function: { name: '', arguments: '' } }
  return {
    data: { ...data, choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] },
    spot: 'call',
  }
}

function geminiGhost(model: Frame): Frame {
  const data = model.data as JsonObject
  const chunk = { candidates: [{ content: { parts: [{ functionCall: {} }], role: 'model' }, index: 0 }] }
  return { data: 'response' in data ? { ...data, response: chunk } : chunk, spot: 'call' }
}

/** Changes the call in a chunk of chat completions. */
function onCall(frame: Frame, change: (call: JsonObject) => JsonObject): Frame {
  const data = isObject(frame.data) ? frame.data : {}
  const choice: Json | undefined = Array.isArray(data['choices']) ? data['choices'][0] : undefined
  const delta = isObject(choice) ? choice['delta'] : undefined
  const calls = isObject(delta) ? delta['tool_calls'] : undefined
  if (!isObject(choice) || !isObject(delta) || !Array.isArray(calls)) return frame
  const changed = { ...delta, tool_calls: calls.map((call) => change(call as JsonObject)) }
  return { ...frame, data: { ...data, choices: [{ ...choice, delta: changed }] } }
}

function onFunction(frame: Frame, change: (inner: JsonObject) => JsonObject): Frame {
  return onCall(frame, (call) => ({ ...call, function: change(isObject(call['function']) ? call['function'] : {}) }))
}

function nameOf(frame: Frame): string | undefined {
  let name: string | undefined
  onFunction(frame, (inner) => {
    if (typeof inner['name'] === 'string') name = inner['name']
    return inner
  })
  return name
}

/** The piece of arguments that an event carries. */
function argumentsIn(frame: Frame, wire: WireId): string | undefined {
  if (frame.spot !== 'arguments') return undefined
  let piece: Json | undefined
  if (wire === 'openai-chat') {
    onFunction(frame, (inner) => {
      piece = inner['arguments']
      return inner
    })
  } else if (isObject(frame.data)) {
    const delta = frame.data['delta']
    piece = (isObject(delta) ? delta['partial_json'] : delta) as Json
  }
  return typeof piece === 'string' ? piece : undefined
}

function withArguments(frame: Frame, wire: WireId, args: string): Frame {
  if (wire === 'openai-chat') return onFunction(frame, (inner) => ({ ...inner, arguments: args }))
  const data = frame.data as JsonObject
  const delta = isObject(data['delta']) ? { ...data['delta'], partial_json: args } : args
  return { ...frame, data: { ...data, delta } }
}
