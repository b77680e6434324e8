import type { ScriptedResponse, ScriptedResponseOptions } from './scripted-response.ts'
import { type DeliveryPlan, type DeliveryStep, planJsonResponse } from './send-response.ts'
import { getStreamContentType, encodeStream } from './encode-stream.ts'
import { alterResponse } from '../misbehaviour/alter-response.ts'
import { alterCallFrames } from '../misbehaviour/alter-calls.ts'
import { alterFrames, corruptTokenCounts } from '../misbehaviour/alter-frames.ts'
import { planReplacement } from '../misbehaviour/replace-response.ts'
import { alterPlannedDelivery } from '../misbehaviour/alter-delivery.ts'
import { actsAtStage, type Misbehaviour, type MisbehaviourKind } from '../misbehaviour/misbehaviour.ts'
import { encodeStreamFrames, encodeWholeBody } from './encode-frames.ts'

/**
 * Encodes a response with all its misbehaviours: first in the response itself, then in its events, then in its bytes
 * and their delivery.
 */
export function planResponse(
  response: ScriptedResponse,
  options: ScriptedResponseOptions,
  misbehaviours: readonly Misbehaviour[],
): DeliveryPlan {
  const { wire, requestBody } = options
  const has = (kind: MisbehaviourKind): boolean => misbehaviours.some((one) => one.kind === kind)
  const altered = misbehaviours.reduce(
    (current, one) => (actsAtStage(one, 'response') ? alterResponse(current, one, wire.id) : current),
    response,
  )
  const delay = options.delayMs > 0 ? { delayMs: options.delayMs } : {}
  const replacement = misbehaviours.find((one) => actsAtStage(one, 'replacement'))
  if (replacement) return { ...planReplacement(replacement, altered, options), ...delay }
  const planWholeBody = (): DeliveryPlan => {
    // A whole body has no frames, so what is missing or wrong in a frame is missing or wrong in the body.
    const complete = has('finish-missing') ? { ...altered, finishReasonOverride: null } : altered
    const body = encodeWholeBody(complete, wire, requestBody)
    return planJsonResponse(200, has('usage-hostile') ? corruptTokenCounts(body) : body)
  }
  const plan = options.stream && !has('whole') ? planStream(altered, options, misbehaviours) : planWholeBody()
  return misbehaviours.reduce<DeliveryPlan>(
    (current, one) => (actsAtStage(one, 'delivery') ? alterPlannedDelivery(current, one) : current),
    { ...plan, ...delay },
  )
}

function planStream(
  response: ScriptedResponse,
  options: ScriptedResponseOptions,
  misbehaviours: readonly Misbehaviour[],
): DeliveryPlan {
  const { wire, requestBody, framing, paceMs } = options
  const style = misbehaviours.find((misbehaviour) => misbehaviour.kind === 'framing')?.style
  const frames = misbehaviours.reduce(
    (current, one) => {
      if (actsAtStage(one, 'call-frames')) return alterCallFrames(current, one, wire.id)
      return actsAtStage(one, 'frames') ? alterFrames(current, one, wire) : current
    },
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
    items:
      paceMs > 0 ? items.flatMap((item, at): DeliveryStep[] => (at === 0 ? [item] : [{ wait: paceMs }, item])) : items,
    ending: 'end',
  }
}
