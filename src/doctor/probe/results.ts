import type { CallPart, Turn } from '../../model/turn.ts'
import { type Behaviour, degraded, fails, notOffered, passes } from '../behaviour.ts'
import type { Exam } from '../exam.ts'
import { PICTURE } from './picture.ts'
import { callQuestion, foreign, noCall, results, said, toolOf, trouble, wordsOf } from './words.ts'

const STEP = toolOf('take_step', 'Takes a step.', { n: { type: 'integer' } })
const STEPS = 5

/** 6 to 9, 12, 13 and 29: what goes back to the model. */
export const RESULTS: readonly Behaviour[] = [
  {
    id: 6,
    title: 'a call, its result, and the answer',
    taught: 'T85–T91, T99',
    advice: 'Without this no tool can be used. Look at the refusal; a flag of the profile may help.',
    how: 'live',
    async probe(ward) {
      const call = await ward.shared('call', callQuestion)
      if (call.calls.length === 0) return fails('It needs a call (3) to go on from.')
      const answer = await ward.ask(after(call, [{ kind: 'text', text: 'Oslo: 7 degrees, rain.' }]))
      return wordsOf(answer, /7|seven|rain/i) ?? passes()
    },
  },
  {
    id: 7,
    title: 'five rounds of calls',
    taught: 'T90–T92, T164',
    advice: 'A model that stops early needs to be told to go on.',
    how: 'live',
    async probe(ward) {
      const text =
        'Call take_step with n = 1. Each result tells you the next n. Go on until a result says stop, then say done.'
      const turns: Turn[] = [said(text)]
      for (let round = 1; round <= STEPS; round++) {
        const exam = await ward.ask({ tools: [STEP], turns })
        const bad = trouble(exam)
        if (bad) return bad
        if (exam.calls.length === 0)
          return round === 1 ? noCall(exam) : degraded(`It stopped after ${round - 1} rounds.`)
        const next = round < STEPS ? `Done. Now call take_step with n = ${round + 1}.` : 'Done. Stop now.'
        turns.push(exam.turn, results(callsOf(exam), [{ kind: 'text', text: next }]))
      }
      const last = await ward.ask({ tools: [STEP], turns })
      return wordsOf(last, /\w/) ?? passes()
    },
  },
  {
    id: 8,
    title: 'a result that is an error',
    taught: 'T99',
    advice: 'Errors go back as text where a wire has no word for them.',
    how: 'live',
    async probe(ward) {
      const call = await ward.shared('call', callQuestion)
      if (call.calls.length === 0) return notOffered('It needs a call (3) to go on from.')
      const answer = await ward.ask(after(call, [{ kind: 'text', text: 'The weather service is down.' }], 'error'))
      return (
        trouble(answer) ?? (answer.text === '' && answer.calls.length === 0 ? fails('The answer is empty.') : passes())
      )
    },
  },
  {
    id: 9,
    title: 'a picture in a result',
    taught: 'T100',
    advice: 'Pictures become a sentence for models that do not look at them; set the flag "media" to false.',
    how: 'live',
    async probe(ward) {
      const call = await ward.shared('call', callQuestion)
      if (call.calls.length === 0) return notOffered('It needs a call (3) to go on from.')
      const { media } = ward.facts
      if (media === false) return notOffered('It looks at no pictures.')
      const content = [
        { kind: 'text', text: 'Oslo: the picture shows it.' },
        { kind: 'media', mime: 'image/png', data: PICTURE },
      ] as const
      const answer = await ward.ask(after(call, content))
      if (answer.warnings.some(({ code }) => code === 'learnt'))
        return notOffered('It looks at no pictures; they become a sentence.')
      return (
        trouble(answer) ?? (answer.text === '' && answer.calls.length === 0 ? fails('The answer is empty.') : passes())
      )
    },
  },
  {
    id: 12,
    title: 'the reasoning of another model in the history',
    taught: 'T81, T120',
    advice: 'What another vendor has sealed is never sent.',
    how: 'live',
    async probe(ward) {
      const native = { wire: 'anthropic', signer: 'elsewhere:another', data: { signature: 'c2VhbGVk' } } as const
      const thought = { kind: 'reasoning', text: 'Paris is the capital of France.', native } as const
      const exam = await ward.ask({
        turns: [
          said('What is the capital of France?'),
          foreign(thought, { kind: 'text', text: 'Paris.' }),
          said('And of Peru? Reply with the name only.'),
        ],
      })
      return wordsOf(exam, /lima/i) ?? passes()
    },
  },
  {
    id: 13,
    title: 'an interrupted call in the history',
    taught: 'T88, T165',
    advice: 'Every call gets a result before the next request.',
    how: 'live',
    async probe(ward) {
      const { tools = [] } = callQuestion()
      const call: CallPart = {
        kind: 'call',
        id: 'abcdefghijklmnopqrst0000',
        name: 'get_weather',
        raw: '{"city":"Oslo"}',
        input: { city: 'Oslo' },
      }
      const turns = [
        said('What is the weather in Oslo?'),
        foreign(call),
        said('Never mind. Reply with the single word: fine.'),
      ]
      return wordsOf(await ward.ask({ tools, turns }), /fine/i) ?? passes()
    },
  },
  {
    id: 29,
    title: 'a note of the harness in the middle',
    taught: 'T101',
    advice: 'Notes go as messages of the person where a wire has nothing else.',
    how: 'live',
    async probe(ward) {
      const exam = await ward.ask({
        turns: [
          said('I shall tell you a word.'),
          foreign({ kind: 'text', text: 'I listen.' }),
          { role: 'note', text: 'The word is heron.' },
          said('What is the word? Reply with it only.'),
        ],
      })
      return wordsOf(exam, /heron/i) ?? passes()
    },
  },
]

/** The question with the call and its result. */
function after(exam: Exam, content: Parameters<typeof results>[1], status: Parameters<typeof results>[2] = 'ok') {
  const { tools = [], turns } = callQuestion()
  return { tools, turns: [...turns, exam.turn, results(callsOf(exam), content, status)] }
}

function callsOf(exam: Exam): CallPart[] {
  return exam.turn.parts.filter((part) => part.kind === 'call')
}
