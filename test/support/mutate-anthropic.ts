import type { JsonObject } from '../../src/model/json.ts'
import { anthropic } from '../../src/wire/anthropic/wire.ts'
import { commonMutations, dropNames, pieceMutations } from './mutate-common.ts'
import { dropField, eachEvent, nullField } from './mutate-fields.ts'
import type { Plan } from './mutate-plan.ts'
import { cutText, letters, type Random } from './mutate-random.ts'
import {
  cleanStream,
  event,
  insertAt,
  type Kit,
  type Mutation,
  placesOf,
  type Role,
  type PieceShapes,
  type Shapes,
  type Stream,
  under,
  type WireEvent,
} from './mutate-stream.ts'

function make(plan: Plan, random: Random): Stream {
  const blocks: WireEvent[][] = []
  for (const thought of plan.thoughts) blocks.push(thinking(thought, blocks.length, random))
  for (const [at, text] of plan.texts.entries()) {
    if (text !== '') blocks.push(words(text, blocks.length, random))
    if (at < plan.calls.length) blocks.push(callBlock(plan, at, blocks.length, random))
  }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null }
  const ping = random.chance(0.3) ? [named('noise', { type: 'ping' })] : []
  const events = [
    named('start', { type: 'message_start', message: { ...message, usage: { input_tokens: 11, output_tokens: 1 } } }),
    ...ping,
    ...blocks.flat(),
    ...ending(random.pick(['tool_use', 'tool_use', 'end_turn'])),
  ]
  // Every start carries an empty input.
  return { ...cleanStream(plan, events), placeholder: '{}' }
}

function ending(reason: string): WireEvent[] {
  const delta = { stop_reason: reason, stop_sequence: null }
  return [
    named('finish', { type: 'message_delta', delta, usage: { output_tokens: 7 } }),
    named('end', { type: 'message_stop' }, { end: true }),
  ]
}

/** Every event says twice what it is: in its name and in its type. */
function named(role: Role, data: JsonObject & { type: string }, more: Partial<WireEvent> = {}): WireEvent {
  return event(role, data, { name: data.type, ...more })
}

function block(role: Role, index: number, start: JsonObject, deltas: readonly JsonObject[], more: Partial<WireEvent>) {
  const [first, middle, last]: Role[] = role === 'text' ? ['text', 'text', 'text'] : ['open', 'args', 'close']
  return [
    named(first ?? role, { type: 'content_block_start', index, content_block: start }, more),
    ...deltas.map((delta) => named(middle ?? role, { type: 'content_block_delta', index, delta }, more)),
    named(last ?? role, { type: 'content_block_stop', index }, more),
  ].map((one) => ({ ...one, calls: [...one.calls] }))
}

function words(text: string, index: number, random: Random): WireEvent[] {
  const deltas = cutText(random, text, 3).map((piece) => ({ type: 'text_delta', text: piece }))
  return block('text', index, { type: 'text', text: '' }, deltas, { group: `block ${index}` })
}

function thinking(text: string, index: number, random: Random): WireEvent[] {
  const deltas: JsonObject[] = cutText(random, text, 2).map((piece) => ({ type: 'thinking_delta', thinking: piece }))
  deltas.push({ type: 'signature_delta', signature: 'c2lnbmVk' })
  return block('text', index, { type: 'thinking', thinking: '', signature: '' }, deltas, { group: `block ${index}` })
}

/** Some proxies send the input whole with the start, and no delta at all (T18). */
function callBlock(plan: Plan, at: number, index: number, random: Random): WireEvent[] {
  const call = plan.calls[at]
  if (!call) return []
  const inStart = random.chance(0.1)
  const pieces = inStart ? [] : call.text === '' ? random.pick([[], ['']]) : cutText(random, call.text, 6)
  if (pieces.length > 0 && random.chance(0.3)) pieces.unshift('')
  const start = { type: 'tool_use', id: call.id, name: call.name, input: inStart ? call.input : {} }
  const deltas = pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece }))
  return block('args', index, start, deltas, { calls: [at], group: `call ${at}` })
}

const shapes: Shapes & PieceShapes = {
  roles: ['start', 'close', 'finish', 'end'],
  loose: true,
  text: (_stream, random) =>
    named(
      'text',
      { type: 'content_block_delta', index: 90 + random.below(3), delta: { type: 'text_delta', text: 'Well, ' } },
      { group: 'stray' },
    ),
  noise(stream, random) {
    const index = random.below(stream.plan.calls.length + 2)
    return random.pick([
      () => named('noise', { type: 'ping' }),
      () => named('noise', { type: 'something_new', index, data: 'x' }),
      () => named('noise', { type: 'content_block_delta', index, delta: { type: 'new_delta', note: 'x' } }),
      () =>
        named('noise', { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: '' } }),
      () => named('noise', { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 3 } }),
    ])()
  },
  error: (random) =>
    random.pick([
      () => named('damage', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
      () => event('damage', { error: { message: 'Upstream failed', code: 502 } }),
    ])(),
  lie: () => ending('tool_use'),
  argsOf(one, call) {
    const text = one.calls[0] === call ? under(one.data, 'delta')['partial_json'] : undefined
    return typeof text === 'string' ? text : ''
  },
  setArgs(one, call, text) {
    if (one.calls[0] === call) under(one.data, 'delta')['partial_json'] = text
  },
}

const isCall = (one: WireEvent) => one.calls.length > 0

const own: readonly Mutation[] = [
  dropField(['index'], { gone: 'index', unless: 'opener' }),
  dropField(['type']),
  dropField(['delta', 'type']),
  dropField(['content_block', 'id'], { gone: 'id', on: isCall }),
  dropField(['content_block', 'name'], { keeps: 'nothing' }),
  dropField(['content_block', 'type'], { keeps: 'nothing' }),
  dropField(['content_block', 'input'], { keeps: 'nothing' }),
  dropField(['delta', 'stop_reason'], { keeps: 'all' }),
  nullField(['index'], { gone: 'index', unless: 'opener' }),
  nullField(['content_block', 'id'], { gone: 'id', nothings: [null, '', ' '] }),
  nullField(['content_block', 'name'], { keeps: 'nothing', nothings: [null, ''] }),
  nullField(['message']),
  nullField(['message', 'id'], { nothings: [null, ''] }),
  { kind: 'rotate', name: 'shifted-indexes', keeps: 'runs', apply: shiftIndexes },
  eachEvent('rotate', 'zero-indexes', (one, _random, { gone }) => {
    gone.add('index')
    const data = one.data as JsonObject
    if (typeof data['index'] !== 'number' || data['index'] === 0) return false
    data['index'] = 0
    return true
  }),
  eachEvent('rotate', 'same-ids', (one, _random, { gone }) => {
    gone.add('id')
    if (one.role !== 'open') return false
    under(one.data, 'content_block')['id'] = 'toolu_same'
    return true
  }),
  eachEvent('insert', 'input-in-start', (one, random, { plan }) => {
    const call = plan.calls[one.calls[0] ?? -1]
    if (one.role !== 'open' || !call || random.chance(0.5)) return false
    under(one.data, 'content_block')['input'] = call.input
    return true
  }),
  { kind: 'reorder', name: 'start-late', keeps: 'nothing', apply: (stream, random) => move(stream, random, 'open', 1) },
  { kind: 'reorder', name: 'stop-early', keeps: 'all', apply: (stream, random) => move(stream, random, 'close', -1) },
  { kind: 'insert', name: 'text-in-call', keeps: 'all', apply: textInCall },
  { kind: 'rotate', name: 'message-id', keeps: 'runs', apply: rotateMessageId },
  { kind: 'insert', name: 'second-answer', keeps: 'all', apply: secondAnswer },
]

function shiftIndexes(stream: Stream, random: Random): boolean {
  const by = random.pick([1, 2, 7])
  const placed = stream.events.filter((one) => typeof under(one.data)['index'] === 'number')
  for (const one of placed) under(one.data)['index'] = Number(under(one.data)['index']) + by
  return placed.length > 0
}

/** Moves the start or the stop of a call's block over one of its own deltas (T132). */
function move(stream: Stream, random: Random, role: Role, by: 1 | -1): boolean {
  const places = placesOf(stream, (one) => one.role === role && isCall(one))
  if (places.length === 0) return false
  const at = random.pick(places)
  const [moved] = stream.events.slice(at, at + 1)
  const beside = stream.events[at + by]
  if (!moved || beside?.role !== 'args' || beside.group !== moved.group) return false
  stream.events[at] = beside
  stream.events[at + by] = moved
  return true
}

function textInCall(stream: Stream, random: Random): boolean {
  const places = placesOf(stream, (one) => one.role === 'args')
  if (places.length === 0) return false
  const at = random.pick(places)
  const index = under(stream.events[at]?.data)['index'] ?? 0
  insertAt(stream, at, named('text', { type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'so' } }))
  return true
}

/** A gateway that names the message anew, but only once. */
function rotateMessageId(stream: Stream, random: Random): boolean {
  const start = stream.events.find((one) => one.role === 'start')
  if (!start) return false
  under(start.data, 'message')['id'] = `msg_${letters(random, 8)}`
  return true
}

/** Another answer begins in the middle of this one; only the id of the first tells that it is another (T134). */
function secondAnswer(stream: Stream, random: Random): boolean {
  const start = stream.events.find((one) => one.role === 'start')
  if (typeof under(start?.data, 'message')['id'] !== 'string' || under(start?.data, 'message')['id'] === '')
    return false
  const message = { id: 'msg_2', type: 'message', role: 'assistant', content: [] }
  insertAt(stream, random.range(1, stream.events.length), named('damage', { type: 'message_start', message }))
  stream.sealed = true
  return true
}

/** Anthropic's Messages. */
export const anthropicKit: Kit = {
  wire: anthropic,
  make,
  mutations: [...commonMutations(shapes), ...pieceMutations(shapes), dropNames, ...own],
}
