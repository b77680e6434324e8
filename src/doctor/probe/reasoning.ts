import { type Behaviour, degraded, fails, notOffered, passes, type Verdict } from '../behaviour.ts'
import type { Exam } from '../exam.ts'
import { noCall, results, said, trouble, WEATHER, wordsOf } from './words.ts'

const EFFORT = { effort: 'low' } as const

/** 10, 11 and 28: thoughts and the prompt cache. */
export const REASONING: readonly Behaviour[] = [
  {
    id: 10,
    title: 'visible reasoning',
    taught: 'T71, T76–T79',
    advice: 'A model that does not think aloud works as well.',
    how: 'live',
    async probe(ward) {
      const text = 'How many days are six weeks and three days? Think first, then reply with the number.'
      const exam = await ward.ask({ turns: [said(text)], params: EFFORT })
      const bad = trouble(exam)
      if (bad) return bad
      if (hasThought(exam)) return passes()
      return notOffered(exam.usage.reasoning > 0 ? 'It thinks, but does not show it.' : 'It shows no thoughts.')
    },
  },
  {
    id: 11,
    title: 'reasoning that goes back with a call',
    taught: 'T74, T75, T81–T84, T117',
    advice: 'Look at the refusal: the flags "needsReasoning", "replay" and "signatures" say what goes back.',
    how: 'live',
    async probe(ward) {
      const turns = [said('Which city is the capital of Norway? Think, then ask the tool for the weather there.')]
      const first = await ward.ask({ tools: [WEATHER], turns, params: EFFORT })
      if (first.calls.length === 0) return noCall(first)
      const sealed = first.turn.parts.some(({ native }) => native?.data !== undefined)
      if (!hasThought(first) && !sealed) return notOffered('There is no reasoning beside its calls.')
      const calls = first.turn.parts.filter((part) => part.kind === 'call')
      const result = results(calls, [{ kind: 'text', text: 'Oslo: 7 degrees, rain.' }])
      const second = await ward.ask({ tools: [WEATHER], turns: [...turns, first.turn, result], params: EFFORT })
      if (second.fault) return fails(`It does not take its own reasoning back: ${second.fault.message}`)
      return wordsOf(second, /7|seven|rain/i) ?? passes()
    },
  },
  {
    id: 28,
    title: 'a prompt that is read from the cache',
    taught: 'T92',
    advice: 'Requests extend each other byte for byte, so a cache hits wherever there is one.',
    how: 'live',
    async probe(ward) {
      const question = { system: LONG, turns: [said('How many rules were you given? Reply with the number only.')] }
      const first = await ward.ask(question)
      if (first.fault?.kind === 'overflow') return tooSmall(first.fault.message)
      const bad = trouble(first)
      if (bad) return bad
      const second = await ward.ask(question)
      if (second.fault) return trouble(second) ?? fails(second.fault.message)
      if (second.usage.cacheRead > 0) return passes(`${second.usage.cacheRead} tokens came from the cache.`)
      const written = first.usage.cacheWrite + second.usage.cacheWrite
      return written > 0 ? degraded('It writes a cache, but did not read it.') : notOffered('It tells of no cache.')
    },
  },
]

/** Servers on one's own machine have as much of a window as they were given, and say so only now (T160). */
function tooSmall(message: string): Verdict {
  const window = Number(/(?:context|maximum|limit)\D{0,40}(\d{3,7})\b/i.exec(message)?.[1])
  const verdict = notOffered(`Its window is too small to try: ${message}`)
  return window > 0 ? { ...verdict, facts: { window } } : verdict
}

function hasThought({ turn }: Exam): boolean {
  return turn.parts.some((part) => part.kind === 'reasoning')
}

/** Caches begin at a thousand tokens or more; this is about twice that. */
const LONG = Array.from(
  { length: 120 },
  (_none, at) => `Rule ${at + 1}: whoever counts the birds on the roof writes their number down before noon.`,
).join('\n')
