import type { CallPart, Turn } from '../../model/turn.ts'
import { type Probe, degraded, failed, notOffered } from './probe.ts'
import type { ProbeExchange } from '../probe-exchange.ts'
import {
  checkNotEmpty,
  checkResponseText,
  CALL_REQUEST,
  defineTool,
  explainMissingCall,
  foreignTurn,
  resultsTurn,
  toFailure,
  userTurn,
} from './probe-helpers.ts'

const STEP_TOOL = defineTool('take_step', 'Takes a step.', { n: { type: 'integer' } })
const STEP_COUNT = 5

/** A red square of 16 by 16 pixels as PNG: large enough that no API rejects it for its size. */
export const TEST_IMAGE_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4ISdHEmIY1TCqYfhqAADkYgQQ6ZuA8QAAAABJRU5ErkJggg=='

/** Probes 6 to 9, 12, 13 and 29: what is sent back to the model. */
export const RESULT_AND_HISTORY_PROBES: readonly Probe[] = [
  {
    id: 6,
    isRequired: true,
    title: 'a call, its result, and the response',
    failureIds: 'T85–T91, T99',
    advice: 'Tools cannot be used without this. Read the error; a profile flag may help.',
    async run(context) {
      const call = await context.sendShared(CALL_REQUEST)
      if (call.calls.length === 0) return failed('Skipped: probe 3 (one call) made no call.')
      const answer = await context.send(createFollowUpRequest(call, [{ kind: 'text', text: 'Oslo: 7 degrees, rain.' }]))
      return checkResponseText(answer, /7|seven|rain/i)
    },
  },
  {
    id: 7,
    title: 'five rounds of calls',
    failureIds: 'T90–T92, T164',
    advice: 'The model may stop before the task is done; tell it to continue.',
    async run(context) {
      const text =
        'Call take_step with n = 1. Each result tells you the next n. Go on until a result says stop, then say done.'
      const turns: Turn[] = [userTurn(text)]
      for (let round = 1; round <= STEP_COUNT; round++) {
        const exchange = await context.send({ tools: [STEP_TOOL], turns })
        const failure = toFailure(exchange)
        if (failure) return failure
        if (exchange.calls.length === 0)
          return round === 1 ? explainMissingCall(exchange) : degraded(`The model stopped after ${round - 1} rounds.`)
        const next = round < STEP_COUNT ? `Done. Now call take_step with n = ${round + 1}.` : 'Done. Stop now.'
        turns.push(exchange.turn, resultsTurn(getCallParts(exchange), [{ kind: 'text', text: next }]))
      }
      const last = await context.send({ tools: [STEP_TOOL], turns })
      return checkResponseText(last, /\w/)
    },
  },
  {
    id: 8,
    title: 'a result that is an error',
    failureIds: 'T99',
    advice: 'Dragoman sends errors as text where the API has no field for them.',
    async run(context) {
      const call = await context.sendShared(CALL_REQUEST)
      if (call.calls.length === 0) return notOffered('Skipped: probe 3 (one call) made no call.')
      const content = [{ kind: 'text', text: 'The weather service is down.' }] as const
      return checkNotEmpty(await context.send(createFollowUpRequest(call, content, 'error')))
    },
  },
  {
    id: 9,
    title: 'an image in a result',
    failureIds: 'T100',
    advice:
      'For a model without image input, set the profile flag "media" to false; Dragoman then sends a text placeholder.',
    async run(context) {
      const call = await context.sendShared(CALL_REQUEST)
      if (call.calls.length === 0) return notOffered('Skipped: probe 3 (one call) made no call.')
      if (context.capabilities.media === false) return notOffered('The model has no image input.')
      const content = [
        { kind: 'text', text: 'Oslo: the picture shows it.' },
        { kind: 'media', mime: 'image/png', data: TEST_IMAGE_BASE64 },
      ] as const
      const answer = await context.send(createFollowUpRequest(call, content))
      if (answer.warnings.some(({ code }) => code === 'learnt'))
        return notOffered('The model has no image input. Dragoman sends a text placeholder.')
      return checkNotEmpty(answer)
    },
  },
  {
    id: 12,
    title: 'the reasoning of another model in the history',
    failureIds: 'T81, T120',
    advice: "Dragoman never sends another vendor's signed reasoning.",
    async run(context) {
      const native = { wire: 'anthropic', signer: 'elsewhere:another', data: { signature: 'c2VhbGVk' } } as const
      const thought = { kind: 'reasoning', text: 'Paris is the capital of France.', native } as const
      const exchange = await context.send({
        turns: [
          userTurn('What is the capital of France?'),
          foreignTurn(thought, { kind: 'text', text: 'Paris.' }),
          userTurn('And of Peru? Reply with the name only.'),
        ],
      })
      return checkResponseText(exchange, /lima/i)
    },
  },
  {
    id: 13,
    title: 'an interrupted call in the history',
    failureIds: 'T88, T165',
    advice: 'Every call gets a result before the next request.',
    async run(context) {
      const { tools = [] } = CALL_REQUEST
      const call: CallPart = {
        kind: 'call',
        id: 'abcdefghijklmnopqrst0000',
        name: 'get_weather',
        raw: '{"city":"Oslo"}',
        input: { city: 'Oslo' },
      }
      const turns = [
        userTurn('What is the weather in Oslo?'),
        foreignTurn(call),
        userTurn('Never mind. Reply with the single word: fine.'),
      ]
      return checkResponseText(await context.send({ tools, turns }), /fine/i)
    },
  },
  {
    id: 29,
    title: 'a harness note in the history',
    failureIds: 'T101',
    advice: 'Dragoman sends notes as user messages where the API has no other role.',
    async run(context) {
      const exchange = await context.send({
        turns: [
          userTurn('I shall tell you a word.'),
          foreignTurn({ kind: 'text', text: 'I listen.' }),
          { role: 'note', text: 'The word is heron.' },
          userTurn('What is the word? Reply with it only.'),
        ],
      })
      return checkResponseText(exchange, /heron/i)
    },
  },
]

function createFollowUpRequest(
  exchange: ProbeExchange,
  content: Parameters<typeof resultsTurn>[1],
  status: Parameters<typeof resultsTurn>[2] = 'ok',
) {
  const { tools = [], turns } = CALL_REQUEST
  return { tools, turns: [...turns, exchange.turn, resultsTurn(getCallParts(exchange), content, status)] }
}

function getCallParts(exchange: ProbeExchange): CallPart[] {
  return exchange.turn.parts.filter((part) => part.kind === 'call')
}
