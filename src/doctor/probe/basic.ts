import { type Behaviour, degraded, fails, notOffered, passes, type Verdict } from '../behaviour.ts'
import { type Exam, meaning } from '../exam.ts'
import type { Ward } from '../ward.ts'
import { callQuestion, noCall, NOTES, quoted, said, trouble, WEATHER, wordsOf } from './words.ts'

/** 1 to 5, and 30: text, counts and calls. */
export const BASIC: readonly Behaviour[] = [
  {
    id: 1,
    title: 'text',
    taught: 'T53, T105–T112',
    advice: 'Check the address, the key and the name of the model.',
    how: 'live',
    async probe(ward) {
      const exam = await ward.shared('text', () => ({ turns: [said('Reply with the single word: ready.')] }))
      return wordsOf(exam, /ready/i) ?? passes()
    },
  },
  {
    id: 2,
    title: 'token counts',
    taught: 'T116',
    advice: 'Without counts, what is used is estimated from the text.',
    how: 'live',
    async probe(ward) {
      const exam = await ward.shared('text', () => ({ turns: [said('Reply with the single word: ready.')] }))
      const { input, cacheRead, cacheWrite, output, reasoning } = exam.usage
      if (exam.fault) return trouble(exam) ?? passes()
      if (input + cacheRead + cacheWrite === 0 && output + reasoning === 0) return degraded('It counts no tokens.')
      return input + cacheRead + cacheWrite > 0 && output + reasoning > 0
        ? passes()
        : degraded('It counts only one way.')
    },
  },
  {
    id: 3,
    title: 'one call',
    taught: 'T01–T31',
    advice: 'Use a model that was trained to call tools, and start local servers with their tool parser switched on.',
    how: 'live',
    async probe(ward) {
      const exam = await ward.shared('call', callQuestion)
      const [call] = exam.calls
      if (!call) return (await described(ward, exam)) ?? noCall(exam)
      if (call.name !== WEATHER.name) return fails(`It called ${call.name}, which there is not.`)
      if (typeof call.input?.['city'] !== 'string') return degraded(`It called without the city: ${quoted(call.raw)}`)
      return /oslo/i.test(call.input['city']) ? passes() : degraded(`It asked for ${quoted(call.raw)}`)
    },
  },
  {
    id: 4,
    title: 'two calls at once',
    taught: 'T01–T05, T10',
    advice: 'With one call at a time everything works, only slower.',
    how: 'live',
    async probe(ward) {
      const text = 'What is the weather in Oslo and in Lima? Call the tool for both cities at the same time.'
      const exam = await ward.ask({ tools: [WEATHER], turns: [said(text)] })
      if (exam.calls.length === 0) return noCall(exam)
      if (exam.calls.length === 1) return notOffered('It makes one call at a time.')
      const cities = exam.calls.map(({ input }) => JSON.stringify(input ?? {}).toLowerCase())
      const both = ['oslo', 'lima'].every((city) => cities.some((one) => one.includes(city)))
      if (new Set(exam.calls.map(({ id }) => id)).size < exam.calls.length) return fails('Two calls have one id.')
      return both ? passes() : degraded(`It asked for ${quoted(cities.join(', '))}`)
    },
  },
  {
    id: 5,
    title: 'a call without arguments',
    taught: 'T17, T128',
    advice: 'No arguments and empty ones are the same here.',
    how: 'live',
    async probe(ward) {
      const exam = await ward.ask({ tools: [NOTES], turns: [said('List my notes. Use the tool.')] })
      const [call] = exam.calls
      if (!call) return noCall(exam)
      return Object.keys(call.input ?? {}).length === 0
        ? passes()
        : degraded(`It made arguments up: ${quoted(call.raw)}`)
    },
  },
  {
    id: 30,
    title: 'the same answer without streaming',
    taught: 'T26, T113',
    advice: 'Answers are streamed unless the profile says otherwise.',
    how: 'live',
    async probe(ward) {
      if (ward.facts.stream === false) return passes('Its answers are asked for whole anyway.')
      const streamed = await ward.shared('call', callQuestion)
      const whole = await ward.ask({ ...callQuestion(), params: { stream: false } })
      const bad = trouble(whole)
      if (bad) return bad
      if (streamed.fault) return degraded('Only the whole answer came.')
      if (meaning(whole.turn) === meaning(streamed.turn)) return passes()
      if (whole.calls.length === 0 && streamed.calls.length > 0) return fails('The call is lost without streaming.')
      return degraded('The two answers differ in their words; a model is free to do so.')
    },
  },
]

/** A model that makes no native call may make one when the tools are described to it in the prompt (T156). */
async function described(ward: Ward, { fault, turn }: Exam): Promise<Verdict | undefined> {
  if (fault || turn.parts.length === 0 || turn.finish.reason !== 'stop') return undefined
  const exam = await ward.retake('call', callQuestion, { tools: 'text' }, ({ calls }) => calls.length > 0)
  return exam && degraded('It makes no native calls, but it makes them where the tools are described in the prompt.')
}
