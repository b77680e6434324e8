import type { Answer } from './answer.ts'
import { type Delivery, type Item, jsonDelivery } from './deliver.ts'
import { streamType, written } from './framing.ts'
import { alterAnswer } from './misbehave/alter-answer.ts'
import { alterFrames, hostile } from './misbehave/alter-frames.ts'
import { instead } from './misbehave/http.ts'
import { alterDelivery } from './misbehave/timing.ts'
import type { Misbehaviour } from './misbehaviour.ts'
import type { Performance } from './performance.ts'
import { streamFrames, wholeBody } from './write-answer.ts'

/**
 * Writes an answer down as it is to be sent, with all that is to go wrong: first in the answer itself, then in the
 * events that it is made of, then in the bytes and on their way.
 */
export function perform(answer: Answer, performance: Performance, given: readonly Misbehaviour[]): Delivery {
  const { wire, request } = performance
  const stream = performance.stream && !given.some(({ kind }) => kind === 'whole')
  const altered = given.reduce((so, one) => alterAnswer(so, one, wire.id, stream), answer)
  for (const one of given) {
    const other = instead(one, altered, performance)
    if (other) return { ...other, ...(performance.delay > 0 && { delay: performance.delay }) }
  }
  const whole = (): Delivery => {
    const body = wholeBody(altered, wire, request)
    const mad = given.some(({ kind }) => kind === 'usage-hostile')
    return jsonDelivery(200, mad ? hostile(body) : body)
  }
  const sent = stream ? streamed(altered, performance, given) : whole()
  const delayed = { ...sent, ...(performance.delay > 0 && { delay: performance.delay }) }
  return given.reduce(alterDelivery, delayed)
}

function streamed(answer: Answer, performance: Performance, given: readonly Misbehaviour[]): Delivery {
  const { wire, request, framing, pace } = performance
  const style = given.find((one) => one.kind === 'framing')?.style
  const frames = given.reduce((so, one) => alterFrames(so, one, wire), streamFrames(answer, wire, request))
  const items = written(frames, wire.id, framing, style)
  return {
    status: 200,
    headers: {
      'content-type': streamType(framing, style),
      'cache-control': 'no-cache',
      'transfer-encoding': 'chunked',
    },
    items: pace > 0 ? items.flatMap((item, at): Item[] => (at === 0 ? [item] : [{ wait: pace }, item])) : items,
    end: 'end',
  }
}
