import type { ScriptedResponse } from './scripted-response.ts'
import { type ResponsePlan, type SendItem, planJsonResponse } from './send-response.ts'
import { getStreamContentType, encodeStream } from './encode-stream.ts'
import { alterResponse } from '../misbehaviour/alter-response.ts'
import { alterFrames, corruptTokenCounts } from '../misbehaviour/alter-frames.ts'
import { planReplacement } from '../misbehaviour/replace-response.ts'
import { alterResponsePlan } from '../misbehaviour/alter-delivery.ts'
import type { Misbehaviour } from '../misbehaviour/misbehaviour.ts'
import type { ResponseOptions } from './response-options.ts'
import { encodeStreamFrames, encodeWholeBody } from './encode-frames.ts'

/**
 * Writes an answer down as it is to be sent, with all that is to go wrong: first in the answer itself, then in the
 * events that it is made of, then in the bytes and on their way.
 */
export function planResponse(
  response: ScriptedResponse,
  options: ResponseOptions,
  misbehaviours: readonly Misbehaviour[],
): ResponsePlan {
  const { wire, requestBody } = options
  const stream = options.stream && !misbehaviours.some(({ kind }) => kind === 'whole')
  const altered = misbehaviours.reduce(
    (current, misbehaviour) => alterResponse(current, misbehaviour, wire.id, stream),
    response,
  )
  for (const misbehaviour of misbehaviours) {
    const replacement = planReplacement(misbehaviour, altered, options)
    if (replacement) return { ...replacement, ...(options.delayMs > 0 && { delayMs: options.delayMs }) }
  }
  const planWholeBody = (): ResponsePlan => {
    const body = encodeWholeBody(altered, wire, requestBody)
    const hasInvalidUsage = misbehaviours.some(({ kind }) => kind === 'usage-hostile')
    return planJsonResponse(200, hasInvalidUsage ? corruptTokenCounts(body) : body)
  }
  const plan = stream ? planStream(altered, options, misbehaviours) : planWholeBody()
  const delayedPlan = { ...plan, ...(options.delayMs > 0 && { delayMs: options.delayMs }) }
  return misbehaviours.reduce(alterResponsePlan, delayedPlan)
}

function planStream(
  response: ScriptedResponse,
  options: ResponseOptions,
  misbehaviours: readonly Misbehaviour[],
): ResponsePlan {
  const { wire, requestBody, framing, paceMs } = options
  const style = misbehaviours.find((misbehaviour) => misbehaviour.kind === 'framing')?.style
  const frames = misbehaviours.reduce(
    (current, misbehaviour) => alterFrames(current, misbehaviour, wire),
    encodeStreamFrames(response, wire, requestBody),
  )
  const items = encodeStream(frames, wire.id, framing, style)
  return {
    status: 200,
    headers: {
      'content-type': getStreamContentType(framing, style),
      'cache-control': 'no-cache',
      'transfer-encoding': 'chunked',
    },
    items: paceMs > 0 ? items.flatMap((item, at): SendItem[] => (at === 0 ? [item] : [{ wait: paceMs }, item])) : items,
    ending: 'end',
  }
}
