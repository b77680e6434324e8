import type { JsonObject } from '../../src/model/json.ts'
import { openaiChat } from '../../src/wire/openai-chat/wire.ts'
import { chatMutations, entriesOf } from './mutate-chat-fields.ts'
import { commonMutations, pieceMutations, usageFirst } from './mutate-common.ts'
import type { Plan } from './mutate-plan.ts'
import { cutText, type Random, riffle } from './mutate-random.ts'
import {
  cleanStream,
  event,
  type Kit,
  type PieceShapes,
  type Shapes,
  type Stream,
  under,
  type WireEvent,
} from './mutate-stream.ts'

/** How one server writes its deltas. */
interface Habits {
  readonly idEverywhere: boolean
  readonly typeEverywhere: boolean
  readonly whole: boolean
  readonly opener: boolean
  readonly emptyArgs: JsonObject
}

function make(plan: Plan, random: Random): Stream {
  const habits: Habits = {
    idEverywhere: random.chance(0.2),
    typeEverywhere: random.chance(0.3),
    whole: random.chance(0.2),
    opener: random.chance(0.6),
    emptyArgs: random.pick([{ arguments: '' }, {}, { arguments: null }]),
  }
  const queues = plan.calls.map((_call, at) => callEvents(plan, at, habits, random))
  const before = [
    ...(random.chance(0.7) ? [event('start', chunk({ role: 'assistant', content: random.pick(['', null]) }))] : []),
    ...plan.thoughts.map((thought) => event('text', chunk({ reasoning_content: thought }), { group: 'think' })),
  ]
  const texts = plan.texts.map((text) => (text === '' ? [] : cutText(random, text, 3).map(textEvent)))
  const body = arrange(queues, texts, random)
  const last = body.at(-1)
  const reason = random.pick(['tool_calls', 'tool_calls', 'stop'])
  if (last?.role === 'args' && random.chance(0.2)) {
    Object.assign(under(last.data, 'choices', 0), { finish_reason: reason })
    last.end = true
    delete last.group
  } else {
    const finish = chunk({})
    Object.assign(under(finish, 'choices', 0), { finish_reason: reason })
    body.push(event('end', finish, { end: true }))
  }
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
  const after = [
    ...(random.chance(0.6) ? [event('usage', { ...chunk({}), choices: [], usage })] : []),
    ...(random.chance(0.8) ? [event('done', '[DONE]')] : []),
  ]
  return cleanStream(plan, [...before, ...body, ...after])
}

/** Puts calls and texts in a row; or mixes the calls, which their indexes tell apart; or sends all in one list. */
function arrange(queues: WireEvent[][], texts: WireEvent[][], random: Random): WireEvent[] {
  const whole = queues.every((queue) => queue.length === 1)
  if (whole && queues.length > 1 && random.chance(0.5)) return [...texts.flat(), inOneList(queues)]
  if (random.chance(0.25)) return riffle(random, [texts.flat(), ...queues])
  return [...(texts[0] ?? []), ...queues.flatMap((queue, at) => [...queue, ...(texts[at + 1] ?? [])])]
}

function inOneList(queues: readonly WireEvent[][]): WireEvent {
  const all = queues.flat()
  const entries = all.flatMap((one) => entriesOf(one).map(({ entry }) => entry))
  return event('args', chunk({ tool_calls: entries }), { calls: all.flatMap((one) => one.calls) })
}

/** The deltas of one call. An opener without arguments is of a kind of its own, because it can be lost alone. */
function callEvents(plan: Plan, at: number, habits: Habits, random: Random): WireEvent[] {
  const call = plan.calls[at]
  if (!call) return []
  const pieces = call.text === '' ? [] : habits.whole ? [call.text] : cutText(random, call.text, 6)
  const more = habits.idEverywhere ? { id: call.id } : {}
  const type = habits.typeEverywhere ? { type: 'function' } : {}
  const opener = habits.opener && !habits.whole
  const first = opener || pieces.length === 0 ? habits.emptyArgs : { arguments: pieces.shift() ?? '' }
  const entries: JsonObject[] = [
    { index: at, id: call.id, type: 'function', function: { name: call.name, ...first } },
    ...pieces.map((piece) => ({ index: at, ...more, ...type, function: { arguments: piece } })),
  ]
  return entries.map((entry, place) => {
    const role = place === 0 && (opener || call.text === '') ? 'open' : 'args'
    return event(role, chunk({ tool_calls: [entry] }), { calls: [at], group: `call ${at}` })
  })
}

function chunk(delta: JsonObject): JsonObject {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1700000000, model: 'm' }
  return { ...head, choices: [{ index: 0, delta, finish_reason: null }] }
}

function textEvent(text: string): WireEvent {
  return event('text', chunk({ content: text }), { group: 'text' })
}

const shapes: Shapes & PieceShapes = {
  roles: ['start', 'end', 'usage', 'done'],
  loose: true,
  text: (_stream, random) => textEvent(random.pick(['Well, ', '{"a":', 'x'])),
  noise(stream, random) {
    const index = stream.plan.calls.length + random.below(2)
    return event(
      'noise',
      random.pick([
        chunk({}),
        chunk({ content: '' }),
        chunk({ content: null, tool_calls: null }),
        chunk({ tool_calls: [] }),
        chunk({ tool_calls: [{ index, function: {} }] }),
        chunk({ tool_calls: [{ index, id: '', type: 'function', function: { name: '', arguments: '' } }] }),
        { ...chunk({}), choices: [] },
        { ...chunk({}), choices: null },
        { id: 'x', object: 'something.else' },
      ]),
    )
  },
  error: (random) =>
    event(
      'damage',
      random.pick<JsonObject>([
        { error: { message: 'Overloaded', code: 529 } },
        { ...chunk({}), choices: [], error: { message: 'Upstream failed', type: 'server_error' } },
        { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { message: 'No' } }] },
      ]),
    ),
  lie(_stream) {
    const finish = chunk({})
    Object.assign(under(finish, 'choices', 0), { finish_reason: 'tool_calls' })
    return [event('end', finish, { end: true }), event('done', '[DONE]')]
  },
  argsOf(one, call) {
    const text = entriesOf(one).find((each) => each.call === call)?.fields['arguments']
    return typeof text === 'string' ? text : ''
  },
  setArgs(one, call, text) {
    const found = entriesOf(one).find((each) => each.call === call)
    if (found) found.fields['arguments'] = text
  },
}

/** Chat Completions. */
export const chatKit: Kit = {
  wire: openaiChat,
  make,
  mutations: [...commonMutations(shapes), ...pieceMutations(shapes), usageFirst, ...chatMutations],
}
