import type { Random } from './mutate-random.ts'
import type { Kit, Stream, WireEvent } from './mutate-stream.ts'

/** A stream as it goes over the wire. */
export interface Sent {
  readonly bytes: Uint8Array
  readonly contentType: string
  /** The events of which all the data arrived. */
  readonly arrived: readonly WireEvent[]
}

/** Writes a stream as bytes: server-sent events in one of their spellings, or a JSON array. */
export function send(stream: Stream, random: Random, wrap: Kit['wrap'] = (data) => data): Sent {
  const { events, framing } = stream
  const write = framing === 'array' ? arrayWriter(events.length) : sseWriter(random)
  const ends: number[] = []
  let text = ''
  for (const [at, one] of events.entries()) {
    const data = typeof one.data === 'string' ? one.data : JSON.stringify(wrap(one.data))
    const { before, after } = write(one, at)
    text += before + data
    ends.push(text.length)
    text += after
  }
  const contentType = framing === 'array' ? 'application/json' : 'text/event-stream'
  const whole = new TextEncoder().encode(text)
  if (stream.cut === undefined) return { bytes: whole, contentType, arrived: events }
  const bytes = whole.subarray(0, Math.floor(whole.length * stream.cut))
  const arrived = events.filter((_one, at) => Buffer.byteLength(text.slice(0, ends[at])) <= bytes.length)
  return { bytes, contentType, arrived }
}

/** Cuts bytes as a network does: not at all, at a few places, or after every byte. */
export function* inPieces(bytes: Uint8Array, random: Random): Generator<Uint8Array> {
  const size = random.pick([Infinity, Infinity, Infinity, 512, 64, 7])
  for (let at = 0; at < bytes.length;) {
    const end = size === Infinity ? bytes.length : at + random.range(1, size)
    yield bytes.subarray(at, end)
    at = end
  }
}

type Write = (one: WireEvent, at: number) => { before: string; after: string }

function sseWriter(random: Random): Write {
  const line = random.pick(['\n', '\n', '\n', '\r\n', '\r'])
  const field = random.pick(['data: ', 'data: ', 'data:'])
  const comment = random.chance(0.15)
  return (one) => {
    const sign = comment && random.chance(0.3) ? `: keep-alive${line}${line}` : ''
    const name = one.name === undefined ? '' : `event: ${one.name}${line}`
    return { before: sign + name + field, after: line + line }
  }
}

function arrayWriter(count: number): Write {
  return (_one, at) => ({ before: at === 0 ? '[' : '', after: at === count - 1 ? ']\n' : ',\r\n' })
}
