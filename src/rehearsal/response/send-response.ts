import type { ServerResponse } from 'node:http'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { stringifyWithRawJson } from '../../wire/json/raw-json.ts'
import type { StreamSection } from './encode-frames.ts'

/** Bytes, a pause, or a pause with keep-alives. */
export type DeliveryStep =
  | { readonly bytes: Buffer; readonly section: StreamSection }
  | { readonly wait: number }
  | { readonly drip: Buffer; readonly every: number; readonly for: number }

/** A response as it will be sent, with its faults. */
export interface DeliveryPlan {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly items: readonly DeliveryStep[]
  /** Regular, closed, or reset. */
  readonly ending: 'end' | 'close' | 'reset'
  readonly delayMs?: number
}

export function planTextResponse(
  status: number,
  type: string,
  body: string,
  headers: DeliveryPlan['headers'] = {},
): DeliveryPlan {
  const bytes = Buffer.from(body)
  return {
    status,
    headers: { 'content-type': type, 'content-length': String(bytes.length), ...headers },
    items: [{ bytes, section: 'open' }],
    ending: 'end',
  }
}

export function planJsonResponse(status: number, body: unknown, headers: DeliveryPlan['headers'] = {}): DeliveryPlan {
  return planTextResponse(status, 'application/json; charset=UTF-8', stringifyWithRawJson(body), headers)
}

/** Stops when the client disconnects. Bytes without a pause between them are sent together. */
export async function sendResponse(response: ServerResponse, plan: DeliveryPlan): Promise<void> {
  const { signal, release } = createCloseSignal(response)
  try {
    if (plan.delayMs) await waitOrAbort(plan.delayMs, signal)
    if (signal.aborted) return
    response.writeHead(plan.status, plan.headers)
    const sendSteps = coalesceBytes(plan.items)
    const [only] = sendSteps
    if (plan.ending === 'end' && sendSteps.length <= 1 && (!only || Buffer.isBuffer(only))) {
      response.end(only)
      return
    }
    response.flushHeaders()
    for (const step of sendSteps) {
      if (signal.aborted) return
      if (Buffer.isBuffer(step)) await writeBytes(response, step)
      else if ('wait' in step) await waitOrAbort(step.wait, signal)
      else await sendKeepAlives(response, step, signal)
    }
    if (!signal.aborted) await endResponse(response, plan.ending)
  } finally {
    release()
  }
}

type PauseItem = Exclude<DeliveryStep, { readonly bytes: Buffer }>

function coalesceBytes(items: readonly DeliveryStep[]): (Buffer | PauseItem)[] {
  const sendSteps: (Buffer | PauseItem)[] = []
  let buffers: Buffer[] = []
  const flush = (): void => {
    if (buffers.length > 0) sendSteps.push(buffers.length === 1 && buffers[0] ? buffers[0] : Buffer.concat(buffers))
    buffers = []
  }
  for (const item of items) {
    if ('bytes' in item) buffers.push(item.bytes)
    else {
      flush()
      sendSteps.push(item)
    }
  }
  flush()
  return sendSteps
}

/** Resolves when the bytes are handed to the system, so that closing afterwards does not lose them. */
function writeBytes(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((done) => {
    response.once('close', done)
    response.write(bytes, () => {
      response.off('close', done)
      done()
    })
  })
}

async function sendKeepAlives(
  response: ServerResponse,
  keepAlive: Extract<DeliveryStep, { drip: Buffer }>,
  signal: AbortSignal,
): Promise<void> {
  for (let elapsedMs = 0; elapsedMs < keepAlive.for && !signal.aborted; elapsedMs += keepAlive.every) {
    await writeBytes(response, keepAlive.drip)
    await waitOrAbort(keepAlive.every, signal)
  }
}

async function endResponse(response: ServerResponse, end: DeliveryPlan['ending']): Promise<void> {
  if (end === 'end') return void response.end()
  if (end === 'close') return void response.socket?.destroy()
  // A reset discards what the client has not read yet.
  await sleep(30)
  await setImmediate()
  response.socket?.resetAndDestroy()
}

/** Beyond the longest timer means forever. */
async function waitOrAbort(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) return setImmediate()
  await sleep(Math.min(ms, MAX_TIMER_MS), undefined, { signal }).catch(() => undefined)
}

const MAX_TIMER_MS = 2 ** 31 - 1

function createCloseSignal(response: ServerResponse): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  response.once('close', abort)
  return { signal: controller.signal, release: () => response.off('close', abort) }
}
