import type { TurnEvent } from '../model/event.ts'
import type { Frame } from '../wire/framing/frame.ts'
import { createFramer } from '../wire/framing/framer.ts'
import type { Wire } from '../wire/wire.ts'
import type { HttpResponse } from './http/http-client.ts'
import { type createInterruptibleWait, INTERRUPTED } from './http/interruptible-wait.ts'
import { createContentTest, isLastFrame } from './http/keep-alive-frames.ts'
import type { TimeoutMonitor } from './http/timeouts.ts'

export interface ResponseWaiter extends Pick<ReturnType<typeof createInterruptibleWait>, 'wait'> {
  /** The notices to yield; undefined if the wait is over. */
  takeNotices(): readonly TurnEvent[] | undefined
}

/** Whether reading on is useless. */
export interface ResponseChecks {
  isUnusable(frame: Frame & { kind: 'bad' }): boolean
  isTooLong(bytes: number): boolean
}

/** The events of one chunk of the body. With `end`, it is the last; `broken` is set if the body broke off. */
interface ResponseBatch {
  readonly events: readonly TurnEvent[]
  readonly end?: { readonly broken?: { readonly error: unknown } }
}

/** Decodes a body, chunk by chunk. It gives lists, because each step of an async generator costs more than decoding an event. */
export function createResponseReader(
  wire: Wire,
  state: unknown,
  response: HttpResponse,
  monitor: TimeoutMonitor,
  checks: ResponseChecks,
  waiter: ResponseWaiter,
): () => Promise<ResponseBatch> {
  const frames = createFramer(response.headers['content-type'])
  const isContent = createContentTest()
  const pieces = response.body[Symbol.asyncIterator]()
  let hasEnded = false
  let hasContent = false
  let bytes = 0
  let unread = 0
  const take = (frame: Frame): TurnEvent[] => {
    const events = wire.decodeFrame(state, frame)
    if (!hasEnded && isContent(frame, events)) hasContent = true
    if (!hasEnded && isLastFrame(frame, wire.id)) {
      hasEnded = true
      monitor.startLinger()
    }
    return events
  }
  // An incomplete frame is not decoded. After the last frame nothing can be missing, however the connection ends.
  const breakOff = (broken: { error: unknown }): ResponseBatch => ({ events: [], end: hasEnded ? {} : { broken } })
  const readPiece = () => pieces.next().catch((error: unknown) => ({ error }))
  let reading: ReturnType<typeof readPiece> | undefined

  return async () => {
    reading ??= readPiece()
    const piece = await waiter.wait(reading)
    if (piece === INTERRUPTED) {
      const events = waiter.takeNotices()
      return events ? { events } : breakOff({ error: undefined })
    }
    reading = undefined
    if ('error' in piece) return breakOff(piece)
    monitor.onBytes()
    bytes += piece.done ? 0 : piece.value.length
    if (checks.isTooLong(bytes)) return { events: [], end: {} }
    const part = piece.done ? frames.end() : frames.push(piece.value)
    const events: TurnEvent[] = []
    let isUseless = false
    for (const frame of part) {
      isUseless = frame.kind === 'bad' && checks.isUnusable(frame)
      if (isUseless) break
      mergeEvents(events, take(frame))
    }
    // A long frame that comes slowly is content; comments and pings are shorter, and blanks do not count.
    unread = part.length > 0 || piece.done ? 0 : unread + countVisibleBytes(piece.value)
    if (hasContent || (unread > LONG_FRAME_BYTES && !hasEnded)) monitor.onContent()
    hasContent = false
    return isUseless || piece.done ? { events, end: {} } : { events }
  }
}

/** Events of one chunk are merged: in a fast stream, forwarding would cost more than decoding. */
function mergeEvents(events: TurnEvent[], more: readonly TurnEvent[]): void {
  for (const event of more) {
    const last = events.at(-1)
    if (event.type === 'part-delta' && last?.type === 'part-delta' && last.index === event.index)
      events[events.length - 1] = { ...last, text: last.text + event.text }
    else events.push(event)
  }
}

const LONG_FRAME_BYTES = 60

function countVisibleBytes(bytes: Uint8Array): number {
  let letters = 0
  for (const byte of bytes) if (byte > 0x20) letters++
  return letters
}
