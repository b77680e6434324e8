import { tryParseJson } from '../../model/json.ts'
import type { ServerQuirk } from './quirk-detectors.ts'
import type { AttemptAnalysis } from './attempt-analysis.ts'

/** Quirks of the transport: head, bytes, framing and end. */
export const TRANSPORT_QUIRKS: readonly ServerQuirk[] = [
  {
    id: 'status',
    failureIds: 'T158',
    description: 'rejects the request',
    outcome: 'harmful',
    detect: ({ trace: { status }, exchange, body, isFirstExchange }) => {
      if (status < 400 || isRejectedCallError(body)) return false
      // Another request may be rejected for its content; its probe reports that.
      const mayBeRequestError = status === 400 || status === 404 || status === 422
      return (!mayBeRequestError || (isFirstExchange && exchange.fault !== undefined)) && `HTTP ${status}`
    },
  },
  {
    id: 'rejected-call',
    failureIds: 'T73',
    description: 'rejects calls that its own model generates',
    outcome: 'harmful',
    detect: ({ trace, body }) => trace.status >= 400 && isRejectedCallError(body),
  },
  {
    id: 'redirect',
    failureIds: 'T112',
    description: 'redirects to another address, to which Dragoman does not send the key',
    outcome: 'harmful',
    detect: ({ trace: { status, headers } }) =>
      status >= 300 && status < 400 && `to ${headers['location'] ?? 'nowhere'}`,
  },
  {
    id: 'html',
    failureIds: 'T112',
    description: 'answers with an HTML page, for example the sign-in page of a network or proxy',
    outcome: 'harmful',
    detect: ({ trace, body }) => trace.status === 200 && /^\s*</.test(body),
  },
  {
    id: 'half-json',
    failureIds: 'T112',
    description: 'sends truncated JSON',
    outcome: 'retried',
    detect: (attempt) =>
      attempt.trace.ending === 'whole' &&
      isJsonBody(attempt) &&
      attempt.trace.status === 200 &&
      tryParseJson(attempt.body) === undefined,
  },
  {
    id: 'whole',
    failureIds: 'T26',
    description: 'ignores the request for a stream, and sends the whole response at once',
    detect: (attempt) =>
      attempt.exchange.stream &&
      attempt.trace.status === 200 &&
      isJsonBody(attempt) &&
      tryParseJson(attempt.body) !== undefined &&
      !attempt.inspection.hasError,
  },
  {
    id: 'content-type',
    failureIds: 'T112',
    description: 'sends server-sent events with a wrong content type',
    detect: ({ isSse, trace: { headers } }) =>
      isSse && !/event-stream/i.test(headers['content-type'] ?? '') && (headers['content-type'] ?? 'no content type'),
  },
  {
    id: 'framing',
    failureIds: 'T106',
    description: 'uses unusual but valid SSE framing',
    detect: (attempt) => describeUnusualFraming(attempt) ?? false,
  },
  {
    id: 'trickle',
    failureIds: 'T105',
    description: 'sends the response in chunks of a few bytes',
    detect: ({ trace: { chunks } }) =>
      chunks.length >= 40 && chunks.reduce((sum, { length }) => sum + length, 0) < chunks.length * 8,
  },
  {
    id: 'stall',
    failureIds: 'T109',
    description: 'stops sending in mid-response',
    outcome: 'retried',
    detect: (attempt) => isTimedOut(attempt) && !endsWithKeepAlives(attempt),
  },
  {
    id: 'drip',
    failureIds: 'T109',
    description: 'sends only keep-alives and no content',
    outcome: 'retried',
    detect: (attempt) => isTimedOut(attempt) && endsWithKeepAlives(attempt),
  },
  {
    id: 'error',
    failureIds: 'T107',
    description: 'sends an error in mid-stream',
    outcome: 'retried',
    detect: ({ trace, inspection, body }) => trace.status === 200 && inspection.hasError && !isRejectedCallError(body),
  },
  {
    id: 'spliced',
    failureIds: 'T134',
    description: 'restarts the response in mid-stream, as a gateway does that switches its upstream',
    outcome: 'retried',
    detect: ({ inspection }) => inspection.startCount > 1,
  },
  {
    id: 'corrupt',
    failureIds: 'T114',
    description: 'sends events with invalid JSON',
    outcome: 'retried',
    detect: (attempt) =>
      attempt.isSse && attempt.frames.some(({ kind }) => kind === 'bad') && !isConnectionCut(attempt),
  },
  {
    id: 'cut',
    failureIds: 'T108',
    description: 'closes the connection before the response is complete',
    outcome: 'retried',
    detect: isConnectionCut,
  },
]

/** Did the response end by itself, so that its end can be judged? */
export function hasCleanEnd({ trace, frames, inspection, body }: AttemptAnalysis): boolean {
  return (
    trace.ending === 'whole' &&
    trace.status === 200 &&
    !/^\s*</.test(body) &&
    !inspection.hasError &&
    inspection.startCount < 2 &&
    frames.every(({ kind }) => kind !== 'bad')
  )
}

/** Did the stream end regularly, but inside a block? */
export function endsMidBlock({ inspection, exchange, isLastAttempt }: AttemptAnalysis): boolean {
  const isCallUnfinished =
    isLastAttempt && exchange.turn.parts.some((part) => part.kind === 'call' && part.flaw?.code === 'unfinished')
  return inspection.finishReasons.length === 0 && (inspection.hasOpenBlock || isCallUnfinished)
}

function isConnectionCut(attempt: AttemptAnalysis): boolean {
  const { trace, frames, exchange, isLastAttempt } = attempt
  if (trace.ending === 'broken') return true
  if (trace.ending === 'none')
    return isLastAttempt && exchange.fault?.kind === 'transport' && exchange.fault.code === 'ECONNRESET'
  // An invalid event that was sent completely is another quirk.
  const isLastFrameBroken = frames.at(-1)?.kind === 'bad' && !/[\r\n]{2}$/.test(attempt.body)
  const done = frames.some(({ kind }) => kind === 'done')
  return (
    trace.ending === 'whole' &&
    attempt.isSse &&
    !done &&
    (isLastFrameBroken || (hasCleanEnd(attempt) && endsMidBlock(attempt)))
  )
}

function isRejectedCallError(body: string): boolean {
  return /failed_generation|tool_use_failed/.test(body)
}

function isJsonBody({ body, trace, isSse }: AttemptAnalysis): boolean {
  return !isSse && /^\s*[[{]/.test(body) && !/ndjson|jsonl/i.test(trace.headers['content-type'] ?? '')
}

function isTimedOut({ exchange, isLastAttempt, trace }: AttemptAnalysis): boolean {
  return trace.ending !== 'whole' && exchange.fault?.code === 'timeout' && (isLastAttempt || trace.ending === 'stopped')
}

/** The last bytes are comments, or blank lines where the body has no comments. */
function endsWithKeepAlives({ body, isSse }: AttemptAnalysis): boolean {
  return isSse ? /(?:^|\n)(?::[^\n]*\n+)+\s*$/.test(body) : /\n{2,}$/.test(body)
}

function describeUnusualFraming(attempt: AttemptAnalysis): string | undefined {
  const { body, isSse, trace, frames, inspection } = attempt
  if (/ndjson|jsonl/i.test(trace.headers['content-type'] ?? '')) return 'newline-delimited JSON'
  if (!isSse || trace.status !== 200) return undefined
  if (body.startsWith('\uFEFF')) return 'a leading byte order mark'
  if (body.includes('\r')) return 'CR line endings'
  if (/^data:\S/m.test(body)) return 'no space after “data:”'
  if (/^data: {2}/m.test(body)) return 'two spaces after “data:”'
  if (/^data:.*\ndata:/m.test(body)) return 'multi-line events'
  if (/^(?:id|retry):|^\w+$/m.test(body)) return 'ids, retry times or unknown fields'
  if (frames.some(({ kind }) => kind === 'comment') && !isTimedOut(attempt)) return 'comments between the events'
  const lacksFinalBlankLine = hasCleanEnd(attempt) && inspection.finishReasons.length > 0 && !body.endsWith('\n\n')
  return lacksFinalBlankLine ? 'no empty line after the last event' : undefined
}
