import type { FaultKind } from '../../model/fault.ts'
import { type Behaviour, fails, notOffered, passes, type Verdict } from '../behaviour.ts'
import { beforeEnd, errorFrame, fault, filtered, garbled, material, refusal, withStranger, written } from '../drill.ts'
import { type Exam, meaning } from '../exam.ts'
import type { Canned, Ward } from '../ward.ts'
import { callQuestion, said, short, trouble, wordsOf } from './words.ts'

/** 19 to 24, 26 and 27: what nobody can ask a model for is tried on the bytes that it sent before. */
export const DRILLS: readonly Behaviour[] = [
  drill(19, 'an answer that a filter stopped', 'T55, T59, T125', async (ward, exam) => {
    const { turn, calls } = await ward.replay(exam, written(exam, filtered(material(exam))))
    if (calls.length > 0) return fails('A call of a filtered answer would run.')
    return turn.finish.reason === 'filter' ? passes() : fails(`It ends with “${turn.finish.reason}”.`)
  }),
  drill(20, 'a malformed call', 'T41, T124', async (ward, exam) => {
    const { calls } = await ward.replay(exam, written(exam, garbled(material(exam))))
    return calls.length === 0 ? passes() : fails('A call that nobody can read would run.')
  }),
  drill(21, 'a stream that ends without its end', 'T53, T108', (ward, exam) => {
    const frames = material(exam)
    const cut = frames.length > 1 ? written(exam, beforeEnd(frames)) : halved(written(exam, frames))
    return faultOf(ward, exam, cut, ['transport', 'decode'])
  }),
  drill(22, 'an error after the beginning of an answer', 'T107', (ward, exam) => {
    const begun = exam.stream ? beforeEnd(material(exam)) : []
    return faultOf(ward, exam, written(exam, [...begun, errorFrame(ward.wire)]), ['server'])
  }),
  drill(23, 'a rate limit that says how long to wait', 'T157, T158', async (ward, exam) => {
    const answer = refusal(429, fault(ward.wire, 'Too many requests', 'rate'), { 'retry-after': '7' })
    const limited = await ward.replay(exam, answer)
    return limited.fault?.kind === 'rate' && limited.fault.retryAfter === 7000 ? passes() : misread(limited)
  }),
  drill(24, 'a history that is too long', 'T159', (ward, exam) =>
    faultOf(ward, exam, refusal(400, fault(ward.wire, TOO_LONG[ward.wire] ?? CHAT_TOO_LONG, 'overflow')), ['overflow']),
  ),
  {
    id: 26,
    title: 'letters that are split between two chunks',
    taught: 'T105',
    advice: 'One decoder reads the whole answer.',
    how: 'live',
    async probe(ward) {
      const exam = await ward.ask({ turns: [said('Reply with exactly this line: Grüße, 你好, 🙂')] })
      const bad = trouble(exam)
      if (bad) return bad
      const split = await ward.replay(exam, written(exam, material(exam), 1))
      if (meaning(split.turn) !== meaning(exam.turn)) return fails('Byte by byte the answer reads otherwise.')
      return wordsOf(exam, /Grüße.*你好.*🙂/) ?? passes()
    },
  },
  drill(27, 'events of a kind that nobody knows', 'T132, T140', async (ward, exam) => {
    if (!exam.stream) return notOffered('Its answers are not streamed.')
    const strange = await ward.replay(exam, written(exam, withStranger(material(exam))))
    if (meaning(strange.turn) !== meaning(exam.turn) || strange.fault) return fails('It changes the answer.')
    return strange.warnings.length > exam.warnings.length ? passes() : fails('It is dropped without a word.')
  }),
]

function drill(
  id: number,
  title: string,
  taught: string,
  run: (ward: Ward, exam: Exam) => Promise<Verdict>,
): Behaviour {
  return {
    id,
    title,
    taught,
    advice: 'This is a fault of Dragoman: report it, with the answer of this server.',
    how: 'drill',
    async probe(ward) {
      const call = await ward.shared('call', callQuestion)
      const text = await ward.shared('text', () => ({ turns: [said('Reply with the single word: ready.')] }))
      const exam = [call, text].find((one) => !one.fault && one.turn.parts.length > 0)
      return exam ? run(ward, exam) : notOffered('There is no good answer to try it on.')
    },
  }
}

async function faultOf(ward: Ward, exam: Exam, answer: Canned, kinds: readonly FaultKind[]): Promise<Verdict> {
  const bent = await ward.replay(exam, answer)
  if (bent.calls.length > 0) return fails('A call of such an answer would run.')
  return bent.fault && kinds.includes(bent.fault.kind) ? passes() : misread(bent)
}

function misread({ fault: found, turn }: Exam): Verdict {
  return fails(
    found ? `It is taken for “${found.kind}”: ${short(found.message)}` : `It ends with “${turn.finish.reason}”.`,
  )
}

function halved(answer: Canned): Canned {
  return { ...answer, chunks: answer.chunks.map((chunk) => chunk.subarray(0, Math.ceil(chunk.length / 2))) }
}

const CHAT_TOO_LONG =
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
const TOO_LONG: Readonly<Record<string, string>> = {
  anthropic: 'prompt is too long: 210000 tokens > 200000 maximum',
  gemini: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  'code-assist': 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
}
