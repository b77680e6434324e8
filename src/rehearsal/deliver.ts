import type { ServerResponse } from 'node:http'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { stringify } from '../wire/verbatim.ts'
import type { Spot } from './write-answer.ts'

/** Something to send, or a time to send nothing, or only signs of life. */
export type Item =
  | { readonly bytes: Buffer; readonly spot: Spot }
  | { readonly wait: number }
  | { readonly drip: Buffer; readonly every: number; readonly for: number }

/** A response as it is to be sent, trouble included. */
export interface Delivery {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly items: readonly Item[]
  /** Ended as it should be, or by hanging up, politely or not. */
  readonly end: 'end' | 'close' | 'reset'
  /** Milliseconds before the first byte. */
  readonly delay?: number
}

/** A body that is sent as it is. */
export function plainDelivery(status: number, type: string, body: string, more: Delivery['headers'] = {}): Delivery {
  const bytes = Buffer.from(body)
  return {
    status,
    headers: { 'content-type': type, 'content-length': String(bytes.length), ...more },
    items: [{ bytes, spot: 'open' }],
    end: 'end',
  }
}

/** The same as JSON. */
export function jsonDelivery(status: number, body: unknown, more: Delivery['headers'] = {}): Delivery {
  return plainDelivery(status, 'application/json; charset=UTF-8', stringify(body), more)
}

/** Sends a response, and stops at once when the client hangs up. What needs no pause goes out as one piece. */
export async function deliver(response: ServerResponse, delivery: Delivery): Promise<void> {
  const { signal, release } = hangUp(response)
  try {
    if (delivery.delay) await pause(delivery.delay, signal)
    if (signal.aborted) return
    response.writeHead(delivery.status, delivery.headers)
    const steps = joined(delivery.items)
    const [only] = steps
    if (delivery.end === 'end' && steps.length <= 1 && (!only || Buffer.isBuffer(only))) {
      response.end(only)
      return
    }
    response.flushHeaders()
    for (const step of steps) {
      if (signal.aborted) return
      if (Buffer.isBuffer(step)) await write(response, step)
      else if ('wait' in step) await pause(step.wait, signal)
      else await drip(response, step, signal)
    }
    if (!signal.aborted) await finish(response, delivery.end)
  } finally {
    release()
  }
}

type Rest = Exclude<Item, { readonly bytes: Buffer }>

function joined(items: readonly Item[]): (Buffer | Rest)[] {
  const steps: (Buffer | Rest)[] = []
  let run: Buffer[] = []
  const flush = (): void => {
    if (run.length > 0) steps.push(run.length === 1 && run[0] ? run[0] : Buffer.concat(run))
    run = []
  }
  for (const item of items) {
    if ('bytes' in item) run.push(item.bytes)
    else {
      flush()
      steps.push(item)
    }
  }
  flush()
  return steps
}

/** Comes back when the bytes are with the system, so that hanging up afterwards does not lose them. */
function write(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((done) => {
    response.once('close', done)
    response.write(bytes, () => {
      response.off('close', done)
      done()
    })
  })
}

async function drip(
  response: ServerResponse,
  given: Extract<Item, { drip: Buffer }>,
  signal: AbortSignal,
): Promise<void> {
  for (let passed = 0; passed < given.for && !signal.aborted; passed += given.every) {
    await write(response, given.drip)
    await pause(given.every, signal)
  }
}

async function finish(response: ServerResponse, end: Delivery['end']): Promise<void> {
  if (end === 'end') return void response.end()
  if (end === 'close') return void response.socket?.destroy()
  // A reset throws away what the client has not read yet; a moment lets it read.
  await sleep(30)
  await setImmediate()
  response.socket?.resetAndDestroy()
}

/** Waits so long, or until the client hangs up; longer than a timer can wait means for ever. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) return setImmediate()
  await sleep(Math.min(ms, LONGEST), undefined, { signal }).catch(() => undefined)
}

const LONGEST = 2 ** 31 - 1

function hangUp(response: ServerResponse): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  response.once('close', abort)
  return { signal: controller.signal, release: () => response.off('close', abort) }
}
