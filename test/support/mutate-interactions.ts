import type { JsonObject } from '../../src/model/json.ts'
import { interactions } from '../../src/wire/interactions/wire.ts'
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
  const steps: WireEvent[][] = []
  for (const thought of plan.thoughts) steps.push(thinking(thought, steps.length, random))
  for (const [at, text] of plan.texts.entries()) {
    if (text !== '') steps.push(words(text, steps.length, random))
    if (at < plan.calls.length) steps.push(callStep(plan, at, steps.length, random))
  }
  const interaction = { id: 'v1_1', object: 'interaction', model: 'm', status: 'in_progress' }
  const events = [
    named('start', { event_type: 'interaction.created', interaction }),
    named('noise', { event_type: 'interaction.status_update', interaction_id: 'v1_1', status: 'in_progress' }),
    ...steps.flat(),
    ...ending(random.pick(['requires_action', 'completed'])),
  ]
  // Every start carries empty arguments.
  return { ...cleanStream(plan, events), placeholder: '{}' }
}

function ending(status: string): WireEvent[] {
  const usage = { total_input_tokens: 11, total_output_tokens: 7 }
  const interaction = { id: 'v1_1', object: 'interaction', status, usage }
  return [
    named('end', { event_type: 'interaction.completed', interaction }, { end: true }),
    event('noise', '[DONE]', { name: 'done' }),
  ]
}

/** Every event says twice what it is: in its name and in its type. */
function named(role: Role, data: JsonObject & { event_type: string }, more: Partial<WireEvent> = {}): WireEvent {
  return event(role, data, { name: data.event_type, ...more })
}

function step(role: Role, index: number, start: JsonObject, deltas: readonly JsonObject[], more: Partial<WireEvent>) {
  const [first, middle, last]: Role[] = role === 'text' ? ['text', 'text', 'text'] : ['open', 'args', 'close']
  return [
    named(first ?? role, { event_type: 'step.start', index, step: start }, more),
    ...deltas.map((delta) => named(middle ?? role, { event_type: 'step.delta', index, delta }, more)),
    named(last ?? role, { event_type: 'step.stop', index }, more),
  ].map((one) => ({ ...one, calls: [...one.calls] }))
}

function words(text: string, index: number, random: Random): WireEvent[] {
  const deltas = cutText(random, text, 3).map((piece) => ({ type: 'text', text: piece }))
  return step('text', index, { type: 'model_output' }, deltas, { group: `step ${index}` })
}

function thinking(text: string, index: number, random: Random): WireEvent[] {
  const deltas: JsonObject[] = cutText(random, text, 2).map((piece) => ({
    type: 'thought_summary',
    content: { type: 'text', text: piece },
  }))
  deltas.push({ type: 'thought_signature', signature: 'c2lnbmVk' })
  return step('text', index, { type: 'thought' }, deltas, { group: `step ${index}` })
}

/** The arguments may come whole with the start, with no delta at all (T18). */
function callStep(plan: Plan, at: number, index: number, random: Random): WireEvent[] {
  const call = plan.calls[at]
  if (!call) return []
  const inStart = random.chance(0.1)
  const pieces = inStart ? [] : call.text === '' ? random.pick([[], ['']]) : cutText(random, call.text, 6)
  if (pieces.length > 0 && random.chance(0.3)) pieces.unshift('')
  const start = { type: 'function_call', id: call.id, name: call.name, arguments: inStart ? call.input : {} }
  const deltas = pieces.map((piece) => ({ type: 'arguments_delta', arguments: piece }))
  return step('args', index, start, deltas, { calls: [at], group: `call ${at}` })
}

const shapes: Shapes & PieceShapes = {
  roles: ['start', 'close', 'end'],
  loose: true,
  text: (_stream, random) =>
    named(
      'text',
      { event_type: 'step.delta', index: 90 + random.below(3), delta: { type: 'text', text: 'Well, ' } },
      { group: 'stray' },
    ),
  noise(stream, random) {
    const index = random.below(stream.plan.calls.length + 2)
    return random.pick([
      () => named('noise', { event_type: 'interaction.status_update', interaction_id: 'v1_1', status: 'in_progress' }),
      () => named('noise', { event_type: 'something.new', index, data: 'x' }),
      () => named('noise', { event_type: 'step.delta', index, delta: { type: 'new_delta', note: 'x' } }),
      () => named('noise', { event_type: 'step.delta', index, delta: { type: 'arguments_delta', arguments: '' } }),
    ])()
  },
  error: (random) =>
    random.pick([
      () => named('damage', { event_type: 'error', error: { code: 'service_unavailable', message: 'Overloaded' } }),
      () => event('damage', { error: { message: 'Upstream failed', code: 502 } }),
    ])(),
  lie: () => ending('requires_action'),
  argsOf(one, call) {
    const text = one.calls[0] === call ? under(one.data, 'delta')['arguments'] : undefined
    return typeof text === 'string' ? text : ''
  },
  setArgs(one, call, text) {
    if (one.calls[0] === call) under(one.data, 'delta')['arguments'] = text
  },
}

const isCall = (one: WireEvent) => one.calls.length > 0

const own: readonly Mutation[] = [
  dropField(['index'], { gone: 'index', unless: 'opener' }),
  dropField(['event_type']),
  dropField(['delta', 'type']),
  dropField(['step', 'id'], { gone: 'id', on: isCall }),
  dropField(['step', 'name'], { keeps: 'nothing' }),
  dropField(['step', 'type'], { keeps: 'nothing' }),
  dropField(['step', 'arguments'], { keeps: 'nothing' }),
  dropField(['interaction', 'status'], { keeps: 'all' }),
  nullField(['index'], { gone: 'index', unless: 'opener' }),
  nullField(['step', 'id'], { gone: 'id', nothings: [null, '', ' '] }),
  nullField(['step', 'name'], { keeps: 'nothing', nothings: [null, ''] }),
  nullField(['interaction', 'id'], { nothings: [null, ''] }),
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
    under(one.data, 'step')['id'] = 'call_same'
    return true
  }),
  eachEvent('insert', 'arguments-in-start', (one, random, { plan }) => {
    const call = plan.calls[one.calls[0] ?? -1]
    if (one.role !== 'open' || !call || random.chance(0.5)) return false
    under(one.data, 'step')['arguments'] = call.input
    return true
  }),
  { kind: 'reorder', name: 'start-late', keeps: 'nothing', apply: (stream, random) => move(stream, random, 'open', 1) },
  { kind: 'reorder', name: 'stop-early', keeps: 'all', apply: (stream, random) => move(stream, random, 'close', -1) },
  { kind: 'insert', name: 'text-in-call', keeps: 'all', apply: textInCall },
  { kind: 'rotate', name: 'interaction-id', keeps: 'runs', apply: rotateId },
  { kind: 'insert', name: 'second-answer', keeps: 'all', apply: secondAnswer },
]

function shiftIndexes(stream: Stream, random: Random): boolean {
  const by = random.pick([1, 2, 7])
  const placed = stream.events.filter((one) => typeof under(one.data)['index'] === 'number')
  for (const one of placed) under(one.data)['index'] = Number(under(one.data)['index']) + by
  return placed.length > 0
}

/** Moves the start or the stop of a call over one of its own deltas (T190). */
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
  insertAt(stream, at, named('text', { event_type: 'step.delta', index, delta: { type: 'text', text: 'so' } }))
  return true
}

/** A gateway that names the interaction anew, but only once. */
function rotateId(stream: Stream, random: Random): boolean {
  const start = stream.events.find((one) => one.role === 'start')
  if (!start) return false
  under(start.data, 'interaction')['id'] = `v1_${letters(random, 8)}`
  return true
}

/** Another answer begins in the middle of this one; only the id of the first tells that it is another (T134). */
function secondAnswer(stream: Stream, random: Random): boolean {
  const start = stream.events.find((one) => one.role === 'start')
  const id = under(start?.data, 'interaction')['id']
  if (typeof id !== 'string' || id === '') return false
  const interaction = { id: 'v1_2', object: 'interaction', status: 'in_progress' }
  const second = named('damage', { event_type: 'interaction.created', interaction })
  insertAt(stream, random.range(1, stream.events.length), second)
  stream.sealed = true
  return true
}

/** Gemini's Interactions. */
export const interactionsKit: Kit = {
  wire: interactions,
  make,
  mutations: [...commonMutations(shapes), ...pieceMutations(shapes), dropNames, ...own],
}
