import { isObject, type Json, type JsonObject, objectOrEmpty } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import type { MisbehaviourAt } from './misbehaviour.ts'
import type { ScriptedFrame } from '../response/encode-frames.ts'

export function alterCallFrames(
  frames: ScriptedFrame[],
  misbehaviour: MisbehaviourAt<'call-frames'>,
  wire: WireId,
): ScriptedFrame[] {
  return CALL_ALTERATIONS[misbehaviour.kind](frames, wire)
}

const CALL_ALTERATIONS: Readonly<
  Record<MisbehaviourAt<'call-frames'>['kind'], (frames: ScriptedFrame[], wire: WireId) => ScriptedFrame[]>
> = {
  'index-missing': (frames, wire) => changeIndexes(frames, wire, () => undefined),
  'index-zero': (frames, wire) => changeIndexes(frames, wire, () => 0),
  'index-sparse': (frames, wire) => changeIndexes(frames, wire, (index) => index * 2 + 1),
  'ids-rotating': rotateIds,
  'name-split': (frames) => frames.flatMap(splitName),
  'name-repeated': (frames) => addNames(frames, () => true),
  'name-late': moveNamesToEnd,
  'arguments-cumulative': accumulateArguments,
  'arguments-repeated': repeatArguments,
  interleaved: interleaveCalls,
  'ghost-call': insertEmptyCall,
}

/** Changes or removes the index that identifies calls, items or blocks on a wire. */
function changeIndexes(frames: ScriptedFrame[], wire: WireId, change: (index: number) => number | undefined) {
  const key = wire === 'openai-responses' ? 'output_index' : 'index'
  const renumber = (value: JsonObject): JsonObject => {
    const { [key]: index, ...rest } = value
    if (typeof index !== 'number') return value
    const next = change(index)
    return next === undefined ? rest : { [key]: next, ...rest }
  }
  return frames.map((frame) => {
    if (wire === 'openai-chat') return mapChatCall(frame, renumber)
    return isObject(frame.data) ? { ...frame, data: renumber(frame.data) } : frame
  })
}

/** Each event has another id (T09, T141). */
function rotateIds(frames: ScriptedFrame[], wire: WireId): ScriptedFrame[] {
  return frames.map((frame, at) => {
    if (frame.callIndex === undefined) return frame
    if (wire === 'openai-chat')
      return frame.section === 'arguments' ? mapChatCall(frame, (call) => ({ ...call, id: `call_r${at}` })) : frame
    const data = frame.data as JsonObject
    const item = isObject(data['item']) ? { item: { ...data['item'], id: `fc_r${at}` } as JsonObject } : {}
    return { ...frame, data: { ...data, ...item, ...('item_id' in data && { item_id: `fc_r${at}` }) } }
  })
}

function splitName(frame: ScriptedFrame): ScriptedFrame[] {
  const name = frame.section === 'call' ? getChatFunctionField(frame, 'name') : undefined
  if (name === undefined) return [frame]
  const middle = Math.ceil(name.length / 2)
  const piece = (part: string) => mapChatFunction(frame, (inner) => ({ ...inner, name: part }))
  const second = mapChatCall(piece(name.slice(middle)), ({ id: _id, ...rest }) => rest)
  return [piece(name.slice(0, middle)), second]
}

/** Adds the name of the call to the wanted fragments. */
function addNames(frames: ScriptedFrame[], isWanted: (frame: ScriptedFrame, at: number) => boolean): ScriptedFrame[] {
  const names = new Map<number, string>()
  return frames.map((frame, at) => {
    const name = getChatFunctionField(frame, 'name')
    if (name !== undefined && frame.callIndex !== undefined && frame.section === 'call')
      names.set(frame.callIndex, name)
    const callName = frame.callIndex === undefined ? undefined : names.get(frame.callIndex)
    if (frame.section !== 'arguments' || callName === undefined || !isWanted(frame, at)) return frame
    return mapChatFunction(frame, (inner) => ({ name: callName, ...inner }))
  })
}

/** Only the last fragment has the name (T14). */
function moveNamesToEnd(frames: ScriptedFrame[]): ScriptedFrame[] {
  const named = addNames(frames, findLastFragments(frames))
  return named.map((frame) =>
    frame.section === 'call' ? mapChatFunction(frame, ({ name: _name, ...rest }) => rest) : frame,
  )
}

/** Each arguments fragment contains everything so far (T20). */
function accumulateArguments(frames: ScriptedFrame[], wire: WireId): ScriptedFrame[] {
  const accumulated = new Map<number, string>()
  return frames.map((frame) => {
    const piece = getArgumentsDelta(frame, wire)
    if (piece === undefined || frame.callIndex === undefined) return frame
    const all = (accumulated.get(frame.callIndex) ?? '') + piece
    accumulated.set(frame.callIndex, all)
    return setArgumentsDelta(frame, wire, all)
  })
}

/** After the last fragment, the whole arguments are repeated (T21). */
function repeatArguments(frames: ScriptedFrame[], wire: WireId): ScriptedFrame[] {
  const isLast = findLastFragments(frames)
  const all = accumulateArguments(frames, wire)
  return frames.flatMap((frame, at) => {
    const whole = isLast(frame, at) ? all[at] : undefined
    return whole ? [frame, whole] : [frame]
  })
}

/** Tells which frames are the last arguments fragment of a call. */
function findLastFragments(frames: readonly ScriptedFrame[]): (frame: ScriptedFrame, at: number) => boolean {
  const isArguments = ({ section }: ScriptedFrame): boolean => section === 'arguments'
  const last = new Map(frames.map((frame, at) => [isArguments(frame) ? frame.callIndex : undefined, at]))
  return (frame, at) => isArguments(frame) && last.get(frame.callIndex) === at
}

/** The calls start one after another, then their fragments alternate (T05). */
function interleaveCalls(frames: ScriptedFrame[]): ScriptedFrame[] {
  const rounds = new Map<number, number>()
  const ordered = frames
    .flatMap((frame) => {
      const { callIndex, section } = frame
      if (callIndex === undefined) return []
      const round = rounds.get(callIndex) ?? 0
      rounds.set(callIndex, round + 1)
      return { frame, key: section === 'call' ? 0 : section === 'arguments' ? 1 + round : Infinity }
    })
    .sort((a, b) => (a.key === b.key ? 0 : a.key - b.key))
    .map(({ frame }) => frame)
  const first = frames.findIndex(({ callIndex }) => callIndex !== undefined)
  const others = frames.filter(({ callIndex }) => callIndex === undefined)
  return first < 0 ? frames : [...others.slice(0, first), ...ordered, ...others.slice(first)]
}

/** A call without content (T08, T28). */
function insertEmptyCall(frames: ScriptedFrame[], wire: WireId): ScriptedFrame[] {
  const end = frames.findIndex(({ section }) => section === 'end')
  const templateFrame = frames[Math.max(0, end)]
  if (!templateFrame) return frames
  const emptyCall =
    wire === 'openai-chat' ? createEmptyChatCall(templateFrame, frames) : createEmptyGeminiCall(templateFrame)
  return [...frames.slice(0, end), emptyCall, ...frames.slice(end)]
}

function createEmptyChatCall(templateFrame: ScriptedFrame, frames: readonly ScriptedFrame[]): ScriptedFrame {
  const data = templateFrame.data as JsonObject
  const index = new Set(frames.flatMap(({ callIndex }) => callIndex ?? [])).size
  const call = { index, id: '', type: 'function', function: { name: '', arguments: '' } }
  return {
    data: { ...data, choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] },
    section: 'call',
  }
}

function createEmptyGeminiCall(templateFrame: ScriptedFrame): ScriptedFrame {
  const data = templateFrame.data as JsonObject
  const chunk = { candidates: [{ content: { parts: [{ functionCall: {} }], role: 'model' }, index: 0 }] }
  return { data: 'response' in data ? { ...data, response: chunk } : chunk, section: 'call' }
}

/** Changes the calls in a chunk of chat completions. */
function mapChatCall(frame: ScriptedFrame, change: (call: JsonObject) => JsonObject): ScriptedFrame {
  const data = isObject(frame.data) ? frame.data : {}
  const choice: Json | undefined = Array.isArray(data['choices']) ? data['choices'][0] : undefined
  const delta = isObject(choice) ? choice['delta'] : undefined
  const calls = isObject(delta) ? delta['tool_calls'] : undefined
  if (!isObject(choice) || !isObject(delta) || !Array.isArray(calls)) return frame
  const changed = { ...delta, tool_calls: calls.map((call) => change(call as JsonObject)) }
  return { ...frame, data: { ...data, choices: [{ ...choice, delta: changed }] } }
}

function mapChatFunction(frame: ScriptedFrame, change: (inner: JsonObject) => JsonObject): ScriptedFrame {
  return mapChatCall(frame, (call) => ({
    ...call,
    function: change(objectOrEmpty(call['function']) as JsonObject),
  }))
}

/** The string in a field of the function that a chunk of chat completions calls. */
function getChatFunctionField(frame: ScriptedFrame, field: 'name' | 'arguments'): string | undefined {
  let found: string | undefined
  mapChatFunction(frame, (inner) => {
    if (typeof inner[field] === 'string') found = inner[field]
    return inner
  })
  return found
}

function getArgumentsDelta(frame: ScriptedFrame, wire: WireId): string | undefined {
  if (frame.section !== 'arguments') return undefined
  if (wire === 'openai-chat') return getChatFunctionField(frame, 'arguments')
  const delta = objectOrEmpty(frame.data)['delta']
  const piece = isObject(delta) ? delta[getArgumentsKey(wire)] : delta
  return typeof piece === 'string' ? piece : undefined
}

function setArgumentsDelta(frame: ScriptedFrame, wire: WireId, args: string): ScriptedFrame {
  if (wire === 'openai-chat') return mapChatFunction(frame, (inner) => ({ ...inner, arguments: args }))
  const data = frame.data as JsonObject
  const delta = isObject(data['delta']) ? { ...data['delta'], [getArgumentsKey(wire)]: args } : args
  return { ...frame, data: { ...data, delta } }
}

/** The field of a delta that contains arguments, on wires whose deltas are objects. */
function getArgumentsKey(wire: WireId): string {
  return wire === 'interactions' ? 'arguments' : 'partial_json'
}
