import type { TurnEvent } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import type { Profile } from '../model/profile.ts'
import type { Request } from '../model/request.ts'
import { framer } from '../wire/framing/framer.ts'
import type { Frame } from '../wire/frame.ts'
import type { Reading, Wire } from '../wire/wire.ts'
import { loadWire } from '../wire/wires.ts'
import { addressOf, headersOf } from './address.ts'
import { type WriteBody, withExtra } from './body.ts'
import type { Clock } from './clock.ts'
import type { Sending } from './port.ts'
import { completed } from './profile.ts'
import { isLastWord, startPulse } from './pulse.ts'
import type { Target } from './target.ts'
import type { Letter, Post, Reply } from './transport.ts'
import { connectionFault, lateFault, redirectFault } from './trouble.ts'
import { type Limits, startWatch, type Watch } from './watch.ts'

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
  const secret = { value: '' }
  let open = true
  try {
    for await (const event of converse(means, request, sending, secret)) {
      open &&= event.type !== 'finish'
      yield withoutKey(event, secret.value)
    }
  } catch (error) {
    const message = `This should not have happened: ${error instanceof Error ? error.message : String(error)}`
    if (open) yield withoutKey(failed({ kind: 'invalid', code: 'internal', message }), secret.value)
  }
}

/** Why an answer was cut short: by the person, or by a clock; `over` means that it was not short at all. */
type Halt = Fault | 'aborted' | 'over'

async function* converse(
  means: Means,
  request: Request,
  sending: Sending,
  secret: { value: string },
): AsyncGenerator<TurnEvent> {
  const { target } = means
  if (sending.signal?.aborted) {
    yield ABORTED
    return
  }
  const { wire, profile, write } = await means.speech()
  const asked = fitted(request, target)
  const stream = asked.params?.stream ?? true
  const { pieces, warnings } = write(asked, profile)
  for (const warning of warnings) yield { type: 'warn', warning }

  const signed = await sign(target, stream)
  if ('kind' in signed) {
    yield failed(signed)
    return
  }
  secret.value = signed.secret
  const body = withExtra(pieces, target.row.extra ?? {}, profile)
  const letter = { url: addressOf(target, stream), headers: signed.headers, body }
  const reading = { key: sending.key, profile, tools: request.tools, ...choice(request) }
  // An answer that is not streamed begins only when it is whole.
  const limits = stream ? means.limits : { ...means.limits, firstByte: means.limits.lifetime }
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
  const stop = (why: Halt): void => {
    halted.why ??= why
    stopper.abort()
  }
  const onAbort = (): void => stop('aborted')
  const watch = startWatch(clock, limits, (which) =>
    stop(which === 'linger' ? 'over' : lateFault(which, limits, target)),
  )
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()
  try {
    const reply = await delivered(post, letter, stopper.signal)
    if ('error' in reply) {
      yield ending(halted.why) ?? failed(connectionFault(reply.error, target, letter.url))
      return
    }
    const { status, headers } = reply
    if (status >= 300 && status < 400) {
      yield failed(redirectFault(status, headers['location'], target, letter.url))
      return
    }
    watch.answered()
    const state = wire.start({ ...reading, status, headers })
    const broken = yield* read(wire, state, reply, watch)
    const { why } = halted
    if (why === 'aborted') {
      // What was said stays; only the end is another.
      yield* wire.stop(state, CANCELLED).filter(({ type }) => type !== 'finish')
      yield ABORTED
      return
    }
    yield* wire.stop(
      state,
      why === 'over' ? undefined : (why ?? (broken && connectionFault(broken.error, target, letter.url))),
    )
  } finally {
    watch.stop()
    signal?.removeEventListener('abort', onAbort)
    stopper.abort()
  }
}

/** Reads the body; gives the error that broke it off before its end, if one did. */
async function* read(
  wire: Wire,
  state: unknown,
  reply: Reply,
  watch: Watch,
): AsyncGenerator<TurnEvent, { error: unknown } | undefined> {
  const frames = framer(reply.headers['content-type'])
  const pulse = startPulse()
  const pieces = reply.body[Symbol.asyncIterator]()
  let said = false
  const take = (frame: Frame): TurnEvent[] => {
    const events = wire.step(state, frame)
    if (!said && pulse.felt(frame, events)) watch.heard()
    if (!said && isLastWord(frame)) {
      said = true
      watch.linger()
    }
    return events
  }
  for (;;) {
    const piece = await pieces.next().catch((error: unknown) => ({ error }))
    // Half a frame is not read. But after the last word nothing can be missing, however the connection ends.
    if ('error' in piece) return said ? undefined : piece
    const part = piece.done ? frames.end() : frames.push(piece.value)
    for (const frame of part) yield* take(frame)
    if (piece.done) return undefined
  }
}

/** The port speaks for one model, whatever the request says. */
function fitted(request: Request, { model, project, profile }: Target): Request {
  const whole = profile.stream === false ? { params: { ...request.params, stream: false } } : {}
  return { ...request, model, ...whole, ...(project !== undefined && { project: request.project ?? project }) }
}

function choice({ toolChoice }: Request): Pick<Request, 'toolChoice'> {
  return toolChoice === undefined ? {} : { toolChoice }
}

async function sign(target: Target, stream: boolean): Promise<Awaited<ReturnType<typeof headersOf>> | Fault> {
  try {
    return await headersOf(target, stream)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { kind: 'auth', message: `The sign-in to ${target.row.id} failed: ${why}` }
  }
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

function failed(fault: Fault): TurnEvent {
  return { type: 'finish', reason: 'fault', fault }
}

const ABORTED: TurnEvent = { type: 'finish', reason: 'aborted' }
const CANCELLED: Fault = { kind: 'transport', message: 'The answer was cancelled.' }

/** Servers repeat the key in their errors; it goes no further. Keys too short to be one are words. */
function withoutKey(event: TurnEvent, key: string): TurnEvent {
  if (key.length < 8 || (event.type !== 'warn' && event.type !== 'finish')) return event
  const written = JSON.stringify(key).slice(1, -1)
  const text = JSON.stringify(event)
  return text.includes(written) ? (JSON.parse(text.replaceAll(written, '[key]')) as TurnEvent) : event
}
