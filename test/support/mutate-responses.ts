import type { JsonObject } from '../../src/model/json.ts'
import { openaiResponses } from '../../src/wire/openai-responses/wire.ts'
import { commonMutations, pieceMutations } from './mutate-common.ts'
import type { Plan } from './mutate-plan.ts'
import { cutText, letters, type Random, riffle } from './mutate-random.ts'
import { responsesMutations } from './mutate-responses-fields.ts'
import {
  cleanStream,
  event,
  type Kit,
  type Mutation,
  type Role,
  type PieceShapes,
  type Shapes,
  type Stream,
  under,
  type WireEvent,
} from './mutate-stream.ts'

/** How one server writes its events. */
interface Habits {
  readonly numbered: boolean
  /** Which of the two events that repeat a call's arguments it sends; it sends at least one. */
  readonly dones: 'both' | 'item' | 'arguments'
  readonly list: 'full' | 'empty' | 'none'
  readonly whole: boolean
}

function make(plan: Plan, random: Random): Stream {
  const habits: Habits = {
    numbered: random.chance(0.7),
    dones: random.pick(['both', 'both', 'both', 'item', 'arguments']),
    list: random.pick(['full', 'full', 'full', 'empty', 'none']),
    whole: random.chance(0.1),
  }
  const output: JsonObject[] = []
  const items: WireEvent[][] = []
  for (const thought of plan.thoughts) items.push(reasoning(thought, output, random))
  for (const [at, text] of plan.texts.entries()) {
    if (text !== '') items.push(message(text, output, random))
    if (at < plan.calls.length) items.push(call(plan, at, output, habits, random))
  }
  const response = { id: 'resp_1', object: 'response', model: 'm', status: 'in_progress' }
  const events = [
    typed('start', 'response.created', { response: { ...response, output: [] } }),
    ...(random.chance(0.5) ? [typed('noise', 'response.in_progress', { response: { ...response, output: [] } })] : []),
    ...(random.chance(0.2) ? riffle(random, items) : items.flat()),
    completed(habits.list === 'none' ? {} : { output: habits.list === 'full' ? output : [] }),
  ]
  if (habits.numbered) for (const [at, one] of events.entries()) under(one.data)['sequence_number'] = at
  if (random.chance(0.3)) for (const one of events) delete one.name
  return cleanStream(plan, events)
}

function completed(more: JsonObject): WireEvent {
  const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 }
  const response = { id: 'resp_1', object: 'response', model: 'm', status: 'completed', usage, ...more }
  return typed('end', 'response.completed', { response }, { end: true })
}

function typed(role: Role, type: string, data: JsonObject, more: Partial<WireEvent> = {}): WireEvent {
  return event(role, { type, ...data }, { name: type, ...more })
}

function reasoning(text: string, output: JsonObject[], random: Random): WireEvent[] {
  const id = `rs_${letters(random, 8)}`
  const item = { id, type: 'reasoning', summary: [{ type: 'summary_text', text }], encrypted_content: 'c2VhbGVk' }
  const place = { output_index: output.push(item) - 1, item_id: id, summary_index: 0 }
  return grouped(place.output_index, [
    typed('text', 'response.output_item.added', { output_index: place.output_index, item: { ...item, summary: [] } }),
    typed('text', 'response.reasoning_summary_text.delta', { ...place, delta: text }),
    typed('text', 'response.output_item.done', { output_index: place.output_index, item }),
  ])
}

function message(text: string, output: JsonObject[], random: Random): WireEvent[] {
  const id = `msg_${letters(random, 8)}`
  const content = [{ type: 'output_text', text, annotations: [] }]
  const item = { id, type: 'message', role: 'assistant', status: 'completed', content }
  const output_index = output.push(item) - 1
  const place = { output_index, item_id: id, content_index: 0 }
  return grouped(output_index, [
    typed('text', 'response.output_item.added', {
      output_index,
      item: { ...item, status: 'in_progress', content: [] },
    }),
    ...cutText(random, text, 2).map((delta) => typed('text', 'response.output_text.delta', { ...place, delta })),
    typed('text', 'response.output_text.done', { ...place, text }),
    typed('text', 'response.output_item.done', { output_index, item }),
  ])
}

function grouped(index: number, events: WireEvent[]): WireEvent[] {
  return events.map((one) => ({ ...one, group: `item ${index}` }))
}

function call(plan: Plan, at: number, output: JsonObject[], habits: Habits, random: Random): WireEvent[] {
  const planned = plan.calls[at]
  if (!planned) return []
  const id = `fc_${letters(random, 8)}`
  const item = { id, type: 'function_call', status: 'completed', call_id: planned.id, name: planned.name }
  const whole = { ...item, arguments: planned.text }
  const output_index = output.push(whole) - 1
  const place = { output_index, item_id: id }
  const pieces = planned.text === '' || habits.whole ? [] : cutText(random, planned.text, 5)
  const added = { output_index, item: { ...item, status: 'in_progress', arguments: '' } }
  const events = [
    typed('open', 'response.output_item.added', added),
    ...pieces.map((delta) => typed('args', 'response.function_call_arguments.delta', { ...place, delta })),
  ]
  if (habits.dones !== 'item')
    events.push(typed('close', 'response.function_call_arguments.done', { ...place, arguments: planned.text }))
  if (habits.dones !== 'arguments')
    events.push(typed('close', 'response.output_item.done', { output_index, item: whole }))
  return events.map((one) => ({ ...one, calls: [at], group: `call ${at}` }))
}

/** Numbers what is put in like its neighbours would be: not at all, as far as anybody can tell. */
const shapes: Shapes & PieceShapes = {
  roles: ['start', 'close', 'end'],
  ordered: true,
  text: (_stream, random) =>
    typed(
      'text',
      'response.output_text.delta',
      { output_index: 90 + random.below(3), item_id: 'msg_stray', content_index: 0, delta: 'Well, ' },
      { group: 'stray' },
    ),
  noise: (stream, random) =>
    random.pick([
      () => typed('noise', 'response.something_new', { output_index: random.below(3), delta: '{"a":1}' }),
      () => typed('noise', 'response.in_progress', { response: { id: 'resp_1', status: 'in_progress' } }),
      () => typed('noise', 'keepalive', {}),
      () =>
        typed('noise', 'response.function_call_arguments.delta', {
          output_index: random.below(stream.plan.calls.length + 1),
          delta: '',
        }),
    ])(),
  error: (random) =>
    random.pick([
      () => typed('damage', 'error', { code: 'server_error', message: 'It failed.' }),
      () => typed('damage', 'response.failed', { response: { status: 'failed', error: { message: 'It failed.' } } }),
      () => event('damage', { error: { message: 'Upstream failed', code: 502 } }),
    ])(),
  lie: (stream) => {
    const last = under(stream.events.at(-1)?.data)['sequence_number']
    const end = completed({})
    if (typeof last === 'number') under(end.data)['sequence_number'] = last + 1
    return [end]
  },
  argsOf(one, number) {
    const text = one.calls[0] === number ? under(one.data)['delta'] : undefined
    return typeof text === 'string' ? text : ''
  },
  setArgs(one, number, text) {
    if (one.calls[0] === number) under(one.data)['delta'] = text
  },
}

/** Where no pieces were sent, a call comes with the event that closes it. */
const common = commonMutations(shapes).map((one): Mutation =>
  one.kind === 'drop' && one.name === 'close-event' ? { ...one, keeps: 'nothing' } : one,
)

/** OpenAI's Responses. */
export const responsesKit: Kit = {
  wire: openaiResponses,
  make,
  mutations: [
    ...common,
    // A lost piece is always noticed here, so this wire has a mutation of its own for it.
    ...pieceMutations(shapes).filter(({ name }) => name !== 'fragment'),
    ...responsesMutations,
  ],
}
