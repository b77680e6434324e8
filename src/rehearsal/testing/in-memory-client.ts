import { joinBodyPieces } from '../../wire/history/encoded-messages.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpClient } from '../../provider/index.ts'
import { handleRehearsalRequest, type RehearsalState } from '../handle-request.ts'
import type { RecordedRequest } from '../request/recorded-request.ts'
import type { DeliveryPlan } from '../response/send-response.ts'

/** An HTTP client that is answered by a script instead of a server. */
export function createInMemoryClient(
  loadState: () => Promise<RehearsalState>,
  onRequest: (recorded: RecordedRequest) => void,
): HttpClient {
  return async ({ url, method = 'POST', headers, body }, signal) => {
    const state = await loadState()
    const head = { url: url.pathname + url.search, method, headers: { ...headers } }
    const plan = handleRehearsalRequest(state, head, [Buffer.from(joinBodyPieces(body))])
    const recorded = state.requests.at(-1)
    if (recorded) onRequest(recorded)
    if (plan.delayMs) await sleep(plan.delayMs, undefined, { signal })
    return { status: plan.status, headers: plan.headers, body: deliver(plan, signal) }
  }
}

async function* deliver({ items, ending }: DeliveryPlan, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (const item of items) {
    if ('bytes' in item) yield item.bytes
    else if ('wait' in item) await sleep(Math.min(item.wait, MAX_TIMER_MS), undefined, { signal })
    else
      for (let elapsedMs = 0; elapsedMs < item.for; elapsedMs += item.every) {
        yield item.drip
        await sleep(item.every, undefined, { signal })
      }
  }
  if (ending !== 'end') throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
}

const MAX_TIMER_MS = 2 ** 31 - 1
