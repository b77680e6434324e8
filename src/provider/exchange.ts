import { late } from '../model/late.ts'
import type { TurnEvent } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import type { Profile } from '../model/profile.ts'
import type { Request } from '../model/request.ts'
import type { Origin } from '../model/turn.ts'
import { framer } from '../wire/framing/framer.ts'
import type { Frame } from '../wire/frame.ts'
import type { Reading, Wire } from '../wire/wire.ts'
import { loadWire } from '../wire/wires.ts'
import { addressOf, sign } from './address.ts'
import { lengthOf, type WriteBody, withExtra } from './body.ts'
import type { Clock } from './clock.ts'
import type { Sending } from './port.ts'
import { completed } from './profile.ts'
import { isLastWord, startPulse } from './pulse.ts'
import { refusedFault } from './refused.ts'
import { type Scrub, startScrub } from './scrub.ts'
import type { Target } from './target.ts'
import type { Letter, Post, Reply } from './transport.ts'
import {
  connectionFault,
  endlessFault,
  hopelessFault,
  lateFault,
  LONGEST_ANSWER,
  redirectFault,
  switchFault,
} from './trouble.ts'
import { startWaiting, WOKEN } from './waiting.ts'
import { type Limits, startWatch, type Watch, within } from './watch.ts'

/** What an exchange is made of. */
export interface Means {
  readonly target: Target
  readonly post: Post
  readonly speech: () => Promise<Speech>
  readonly clock: Clock
  readonly limits: Limits
}

/** How a port speaks: the same for its whole life, so that a writer can go on from what it has written. */
export interface Speech {
  readonly wire: Wire
  readonly profile: Profile
  readonly write: WriteBody
}

/** Learns to speak with a target. */
export async function learnSpeech(target: Target, start: (wire: Wire) => WriteBody): Promise<Speech> {
  const wire = await loadWire(target.wire)
  return { wire, profile: completed(wire.profile, target.profile), write: start(wire) }
}

/** Asks once. It never throws, always ends in exactly one `finish`, and the key is in none of its events. */
export async function* exchange(means: Means, request: Request, sending: Sending): AsyncGenerator<TurnEvent> {
  const scrub = startScrub()
  let open = true
  try {
    for await (const event of converse(means, request, sending, scrub)) {
      open &&= event.type !== 'finish'
      yield* scrub.pass(event)
    }
  } catch (error) {
    const message = `This should not have happened: ${error instanceof Error ? error.message : String(error)}`
    if (open) yield* scrub.pass(failed({ kind: 'invalid', code: 'internal', message }))
  }
}

/** Why an answer was cut short: by the person, or by a clock; `over` means that it was not short at all. */
type Halt = Fault | 'aborted' | 'over'

async function* converse(means: Means, request: Request, sending: Sending, scrub: Scrub): AsyncGenerator<TurnEvent> {
  const { target } = means
  if (sending.signal?.aborted) {
    yield ABORTED
    return
  }
  const { wire, profile, write } = await means.speech()
  const asked = fitted(request, target)
  const stream = asked.params?.stream ?? true
  const { pieces, warnings, marks } = write(asked, profile)
  for (const warning of warnings) yield { type: 'warn', warning }

  const signed = await sign(target, stream)
  if ('kind' in signed) {
    yield failed(signed)
    return
  }
  scrub.learn(signed.secret)
  const body = withExtra(pieces, target.row.extra ?? {}, profile)
  const length = lengthOf(body)
  const gone = late(() => sending.sent?.({ origin: originOf(target), bytes: length, ...(marks && { marks }) }))
  const letter = { url: addressOf(target, stream), headers: signed.headers, body, length, gone }
  const reading = { key: sending.key, profile, tools: request.tools, ...choice(request) }
  const left = sending.silence === undefined ? means.limits : within(means.limits, sending.silence)
  // An answer that is not streamed begins only when it is whole, and there are no signs of life until then.
  const limits = stream ? left : { ...left, firstByte: 2 * left.firstByte }
  yield* correspond({ ...means, limits }, wire, reading, letter, sending.signal)
}

/** Sends a letter and reads the reply. Whoever stops listening closes the connection. */
async function* correspond(
  { target, post, clock, limits }: Means,
  wire: Wire,
  reading: Reading,
  letter: Letter,
  signal: AbortSignal | undefined,
): AsyncGenerator<TurnEvent> {
  const stopper = new AbortController()
  const halted: { why?: Halt } = {}
  const waiting = startWaiting()
  const stop = (why: Halt): void => {
    halted.why ??= why
    stopper.abort()
    // Whatever the connection does about it.
    waiting.wake()
  }
  const told: TurnEvent[] = []
  let stage: 'answer' | 'rest' = 'answer'
  const tell = (waited: number, limit: number): void => {
    told.push({ type: 'wait', host: letter.url.host, stage, waited, limit })
    waiting.wake()
  }
  const patience: Patience = {
    wait: (work) => waiting.wait(work),
    news: () => (halted.why === undefined ? told.splice(0) : undefined),
  }
  const onAbort = (): void => stop('aborted')
  const watch = startWatch(
    clock,
    limits,
    (which) => stop(which === 'linger' ? 'over' : lateFault(which, limits, target)),
    tell,
  )
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()
  try {
    const sent = delivered(post, letter, stopper.signal)
    let reply = await patience.wait(sent)
    for (; reply === WOKEN; reply = await patience.wait(sent)) {
      const news = patience.news()
      if (!news) break
      yield* news
    }
    if (reply === WOKEN) reply = { error: undefined }
    // One that did not get through counts as sent as well.
    letter.gone?.()
    if ('error' in reply) {
      const fault = connectionFault(reply.error, target, letter.url)
      yield ending(halted.why) ?? failed(afterSilence(fault, watch.silence()))
      return
    }
    const { status, headers } = reply
    if (status < 200) {
      yield failed(switchFault(status, target, letter.url))
      return
    }
    if (status >= 300 && status < 400) {
      yield failed(redirectFault(status, headers['location'], target, letter.url))
      return
    }
    watch.answered()
    stage = 'rest'
    const state = wire.start({ ...reading, status, headers })
    let page = ''
    const judge: Judge = {
      isHopeless({ text, deep = false }) {
        page ||= text
        const fault = status < 300 ? hopelessFault(text, deep, target, letter.url) : undefined
        if (fault) stop(fault)
        return fault !== undefined
      },
      isEndless(bytes) {
        if (bytes > LONGEST_ANSWER) stop(endlessFault(target))
        return bytes > LONGEST_ANSWER
      },
    }
    const broken = yield* read(wire, state, reply, watch, judge, patience)
    const { why } = halted
    if (why === 'aborted') {
      // What was said stays; only the end is another.
      yield* wire.stop(state, CANCELLED).filter(({ type }) => type !== 'finish')
      yield ABORTED
      return
    }
    const cut = why === 'over' ? undefined : (why ?? (broken && connectionFault(broken.error, target, letter.url)))
    const waited = watch.silence()
    for (const event of wire.stop(state, cut)) {
      if (event.type !== 'finish' || !event.fault) yield event
      else {
        const fault = event.fault === cut ? cut : refusedFault(event.fault, target, letter.url, page)
        yield { ...event, fault: afterSilence(fault, waited) }
      }
    }
  } finally {
    watch.stop()
    signal?.removeEventListener('abort', onAbort)
    stopper.abort()
  }
}

/** How one waits for the wire. */
interface Patience {
  /** Gives what the work gives, or `WOKEN` where there is news. */
  wait<T>(work: Promise<T>): Promise<T | typeof WOKEN>
  /** What is to be told meanwhile; undefined if nothing is waited for any more. */
  news(): TurnEvent[] | undefined
}

/** Says when it is in vain to read on. */
interface Judge {
  isHopeless(frame: Frame & { kind: 'bad' }): boolean
  isEndless(bytes: number): boolean
}

/** Reads the body; gives the error that broke it off before its end, if one did. */
async function* read(
  wire: Wire,
  state: unknown,
  reply: Reply,
  watch: Watch,
  judge: Judge,
  patience: Patience,
): AsyncGenerator<TurnEvent, { error: unknown } | undefined> {
  const frames = framer(reply.headers['content-type'])
  const pulse = startPulse()
  const pieces = reply.body[Symbol.asyncIterator]()
  let said = false
  let heard = false
  let bytes = 0
  let unread = 0
  const take = (frame: Frame): TurnEvent[] => {
    const events = wire.step(state, frame)
    if (!said && pulse.felt(frame, events)) heard = true
    if (!said && isLastWord(frame, wire.id)) {
      said = true
      watch.linger()
    }
    return events
  }
  for (;;) {
    const next = pieces.next().catch((error: unknown) => ({ error }))
    let piece = await patience.wait(next)
    for (; piece === WOKEN; piece = await patience.wait(next)) {
      const news = patience.news()
      if (!news) return said ? undefined : { error: undefined }
      yield* news
    }
    // Half a frame is not read. But after the last word nothing can be missing, however the connection ends.
    if ('error' in piece) return said ? undefined : piece
    watch.felt()
    bytes += piece.done ? 0 : piece.value.length
    if (judge.isEndless(bytes)) return undefined
    const part = piece.done ? frames.end() : frames.push(piece.value)
    const events: TurnEvent[] = []
    let isVain = false
    for (const frame of part) {
      isVain = frame.kind === 'bad' && judge.isHopeless(frame)
      if (isVain) break
      gather(events, take(frame))
    }
    if (heard) watch.heard()
    heard = false
    yield* events
    if (isVain) return undefined
    // A frame that comes slowly says something all the while; a comment or a ping is over before it is this long, and
    // blanks say nothing.
    unread = part.length > 0 || piece.done ? 0 : unread + lettersIn(piece.value)
    if (unread > LONG_FRAME && !said) watch.heard()
    if (piece.done) return undefined
  }
}

/** Who answers at a target. */
export function originOf({ row, wire, model }: Target): Origin {
  return { provider: row.id, wire, model }
}

const LONG_FRAME = 60

function lettersIn(bytes: Uint8Array): number {
  let letters = 0
  for (const byte of bytes) if (byte > 0x20) letters++
  return letters
}

/** The port speaks for one model, whatever the request says. */
function fitted(request: Request, { model, project, profile }: Target): Request {
  const whole = profile.stream === false ? { params: { ...request.params, stream: false } } : {}
  return { ...request, model, ...whole, ...(project !== undefined && { project: request.project ?? project }) }
}

/** What came together is told together: a fast stream would otherwise cost more to pass on than to read. */
function gather(events: TurnEvent[], more: readonly TurnEvent[]): void {
  for (const event of more) {
    const last = events.at(-1)
    if (event.type === 'part-delta' && last?.type === 'part-delta' && last.index === event.index)
      events[events.length - 1] = { type: 'part-delta', index: last.index, text: last.text + event.text }
    else events.push(event)
  }
}

function choice({ toolChoice }: Request): Pick<Request, 'toolChoice'> {
  return toolChoice === undefined ? {} : { toolChoice }
}

async function delivered(post: Post, letter: Letter, signal: AbortSignal): Promise<Reply | { error: unknown }> {
  try {
    return await post(letter, signal)
  } catch (error) {
    return { error }
  }
}

function ending(halt: Halt | undefined): TurnEvent | undefined {
  if (halt === 'aborted') return ABORTED
  return halt === undefined || halt === 'over' ? undefined : failed(halt)
}

/** A fault with the time that was lost before it, where that is worth counting. */
function afterSilence(fault: Fault, ms: number): Fault {
  return ms < 1000 ? fault : { waited: ms, ...fault }
}

function failed(fault: Fault): TurnEvent {
  return { type: 'finish', reason: 'fault', fault }
}

const ABORTED: TurnEvent = { type: 'finish', reason: 'aborted' }
const CANCELLED: Fault = { kind: 'transport', message: 'The answer was cancelled.' }
