import type { Sign } from '../sign.ts'
import type { View } from '../view.ts'

/** What can be odd about the way in which an answer comes: the head, the bytes, the framing, the end. */
export const TRANSPORT_SIGNS: readonly Sign[] = [
  {
    id: 'status',
    taught: 'T158',
    said: 'refuses the request',
    outcome: 'harmful',
    seen: ({ trace: { status }, exam, body, first }) => {
      if (status < 400 || isRejectedCall(body)) return false
      // Another question may be refused for what it asks; its own line says so.
      const ours = status === 400 || status === 404 || status === 422
      return (!ours || (first && exam.fault !== undefined)) && `HTTP ${status}`
    },
  },
  {
    id: 'rejected-call',
    taught: 'T73',
    said: 'refuses the calls that its own model writes',
    outcome: 'harmful',
    seen: ({ trace, body }) => trace.status >= 400 && isRejectedCall(body),
  },
  {
    id: 'redirect',
    taught: 'T112',
    said: 'sends us elsewhere, where a key must not follow',
    outcome: 'harmful',
    seen: ({ trace: { status, headers } }) => status >= 300 && status < 400 && `to ${headers['location'] ?? 'nowhere'}`,
  },
  {
    id: 'html',
    taught: 'T112',
    said: 'answers with a page for people, as the sign-in page of a network or a proxy does',
    outcome: 'harmful',
    seen: ({ trace, body }) => trace.status === 200 && /^\s*</.test(body),
  },
  {
    id: 'half-json',
    taught: 'T112',
    said: 'answers with half a JSON document',
    outcome: 'retried',
    seen: (view) => view.trace.ended === 'whole' && isJson(view) && view.trace.status === 200 && !parses(view.body),
  },
  {
    id: 'whole',
    taught: 'T26',
    said: 'does not stream: it answers whole where a stream was asked for',
    outcome: 'handled',
    seen: (view) =>
      view.exam.stream && view.trace.status === 200 && isJson(view) && parses(view.body) && !view.look.error,
  },
  {
    id: 'content-type',
    taught: 'T112',
    said: 'sends a stream of events under the name of something else',
    outcome: 'handled',
    seen: ({ sse, trace: { headers } }) =>
      sse && !/event-stream/i.test(headers['content-type'] ?? '') && (headers['content-type'] ?? 'no content type'),
  },
  {
    id: 'framing',
    taught: 'T106',
    said: 'frames its events in an unusual, legal way',
    outcome: 'handled',
    seen: (view) => framing(view) ?? false,
  },
  {
    id: 'trickle',
    taught: 'T105',
    said: 'sends its answer in crumbs of a few bytes',
    outcome: 'handled',
    seen: ({ trace: { chunks } }) =>
      chunks.length >= 40 && chunks.reduce((sum, { length }) => sum + length, 0) < chunks.length * 8,
  },
  {
    id: 'stall',
    taught: 'T109',
    said: 'falls silent in the middle of an answer',
    outcome: 'retried',
    seen: (view) => isLate(view) && !drips(view),
  },
  {
    id: 'drip',
    taught: 'T109',
    said: 'sends signs of life and nothing else',
    outcome: 'retried',
    seen: (view) => isLate(view) && drips(view),
  },
  {
    id: 'error',
    taught: 'T107',
    said: 'begins an answer and then sends an error in it',
    outcome: 'retried',
    seen: ({ trace, look, body }) => trace.status === 200 && look.error && !isRejectedCall(body),
  },
  {
    id: 'spliced',
    taught: 'T134',
    said: 'begins its answer anew in the middle of it, as a gateway does that changes its upstream',
    outcome: 'retried',
    seen: ({ look }) => look.begins > 1,
  },
  {
    id: 'corrupt',
    taught: 'T114',
    said: 'sends events that cannot be read',
    outcome: 'retried',
    seen: (view) => view.sse && view.frames.some(({ kind }) => kind === 'bad') && !isCut(view),
  },
  {
    id: 'cut',
    taught: 'T108',
    said: 'hangs up before the answer is over',
    outcome: 'retried',
    seen: isCut,
  },
]

/** Did the answer come to an end of its own, so that something can be said about that end? */
export function isOver({ trace, frames, look, body }: View): boolean {
  return (
    trace.ended === 'whole' &&
    trace.status === 200 &&
    !/^\s*</.test(body) &&
    !look.error &&
    look.begins < 2 &&
    frames.every(({ kind }) => kind !== 'bad')
  )
}

/** Did it end in good order, but in the middle of something? */
export function isUnfinished({ look, exam, last }: View): boolean {
  const cut = last && exam.turn.parts.some((part) => part.kind === 'call' && part.flaw?.code === 'unfinished')
  return look.finishes.length === 0 && (look.open || cut)
}

function isCut(view: View): boolean {
  const { trace, frames, exam, last } = view
  if (trace.ended === 'broken') return true
  if (trace.ended === 'none') return last && exam.fault?.kind === 'transport' && exam.fault.code === 'ECONNRESET'
  // An event that cannot be read, but was sent to its end, is another matter.
  const half = frames.at(-1)?.kind === 'bad' && !/[\r\n]{2}$/.test(view.body)
  const done = frames.some(({ kind }) => kind === 'done')
  return trace.ended === 'whole' && view.sse && !done && (half || (isOver(view) && isUnfinished(view)))
}

function isRejectedCall(body: string): boolean {
  return /failed_generation|tool_use_failed/.test(body)
}

/** A body that means to be JSON. */
function isJson({ body, trace, sse }: View): boolean {
  return !sse && /^\s*[[{]/.test(body) && !/ndjson|jsonl/i.test(trace.headers['content-type'] ?? '')
}

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function isLate({ exam, last, trace }: View): boolean {
  return trace.ended !== 'whole' && exam.fault?.code === 'timeout' && (last || trace.ended === 'stopped')
}

/** After the last event came comments, or white space where comments have no place. */
function drips({ body, sse }: View): boolean {
  return sse ? /(?:^|\n)(?::[^\n]*\n+)+\s*$/.test(body) : /\n{2,}$/.test(body)
}

function framing(view: View): string | undefined {
  const { body, sse, trace, frames, look } = view
  if (/ndjson|jsonl/i.test(trace.headers['content-type'] ?? '')) return 'one JSON document a line'
  if (!sse || trace.status !== 200) return undefined
  if (body.startsWith('\uFEFF')) return 'a byte order mark in front'
  if (body.includes('\r')) return 'lines that end with CR'
  if (/^data:\S/m.test(body)) return 'no space after “data:”'
  if (/^data: {2}/m.test(body)) return 'two spaces after “data:”'
  if (/^data:.*\ndata:/m.test(body)) return 'events of several lines'
  if (/^(?:id|retry):|^\w+$/m.test(body)) return 'ids, retry times or unknown fields'
  if (frames.some(({ kind }) => kind === 'comment') && !isLate(view)) return 'comments between the events'
  const open = isOver(view) && look.finishes.length > 0 && !body.endsWith('\n\n')
  return open ? 'no empty line after the last event' : undefined
}
