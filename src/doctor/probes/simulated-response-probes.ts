import type { FaultKind } from '../../model/fault.ts'
import type { Frame } from '../../wire/framing/frame.ts'
import { type Probe, type ProbeResult, failed, notOffered, passed } from './probe.ts'
import {
  takeFramesBeforeEnd,
  createErrorFrame,
  createErrorBody,
  simulateContentFilter,
  simulateMalformedCall,
  getRecordedFrames,
  errorResponse,
  insertUnknownEvent,
  encodeResponse,
} from './alter-recorded-responses.ts'
import { type ProbeExchange, toComparableTurn } from '../probe-exchange.ts'
import type { FixedResponse, ProbeContext } from '../probe-runner.ts'
import { prompt, checkResponseText, CALL_REQUEST, TEXT_REQUEST, toFailure, truncateLine } from './probe-helpers.ts'

/** Probes 19 to 24, 26 and 27: what no model can be asked for is simulated with the bytes that it sent before. */
export const SIMULATED_RESPONSE_PROBES: readonly Probe[] = [
  simulatedProbe(19, 'a response stopped by a content filter', 'T55, T59, T125', async (context, exchange) => {
    const { turn, calls } = await replayFrames(context, exchange, simulateContentFilter)
    if (calls.length > 0) return failed('A call of a filtered response would run.')
    const { reason } = turn.finish
    return reason === 'filter' ? passed() : failed(`It was decoded with the finish reason “${reason}”.`)
  }),
  simulatedProbe(20, 'a malformed call', 'T41, T124', async (context, exchange) => {
    const { calls } = await replayFrames(context, exchange, simulateMalformedCall)
    return calls.length === 0 ? passed() : failed('A call with malformed arguments would run.')
  }),
  simulatedProbe(21, 'a stream without an end event', 'T53, T108', (context, exchange) => {
    const frames = getRecordedFrames(exchange)
    const cut =
      frames.length > 1
        ? encodeResponse(exchange, takeFramesBeforeEnd(frames, context.wire))
        : truncateChunks(encodeResponse(exchange, frames))
    return checkSimulatedFault(context, exchange, cut, ['transport', 'decode'])
  }),
  simulatedProbe(22, 'an error in mid-stream', 'T107', (context, exchange) => {
    const startedFrames = exchange.stream ? takeFramesBeforeEnd(getRecordedFrames(exchange), context.wire) : []
    const response = encodeResponse(exchange, [...startedFrames, createErrorFrame(context.wire)])
    return checkSimulatedFault(context, exchange, response, ['server'])
  }),
  simulatedProbe(23, 'a rate limit with a retry time', 'T157, T158', async (context, exchange) => {
    const body = createErrorBody(context.wire, 'Too many requests', 'rate')
    const limited = await context.replayResponse(exchange, errorResponse(429, body, { 'retry-after': '7' }))
    return limited.fault?.kind === 'rate' && limited.fault.retryAfter === 7000 ? passed() : wrongFaultResult(limited)
  }),
  simulatedProbe(24, 'context window exceeded', 'T159', (context, exchange) => {
    const body = createErrorBody(context.wire, OVERFLOW_MESSAGES[context.wire] ?? CHAT_OVERFLOW_MESSAGE, 'overflow')
    return checkSimulatedFault(context, exchange, errorResponse(400, body), ['overflow'])
  }),
  {
    id: 26,
    title: 'characters split across chunks',
    failureIds: 'T105',
    advice: 'No action needed: one UTF-8 decoder reads the whole response.',
    async run(context) {
      const exchange = await context.send(prompt('Reply with exactly this line: Grüße, 你好, 🙂'))
      const failure = toFailure(exchange)
      if (failure) return failure
      const split = await replayFrames(context, exchange, (frames) => frames, 1)
      return toComparableTurn(split.turn) === toComparableTurn(exchange.turn)
        ? checkResponseText(exchange, /Grüße.*你好.*🙂/)
        : failed('Read one byte at a time, the response is decoded differently.')
    },
  },
  simulatedProbe(27, 'unknown event types', 'T132, T140', async (context, exchange) => {
    if (!exchange.stream) return notOffered('Responses are not streamed.')
    const replayed = await replayFrames(context, exchange, insertUnknownEvent)
    if (toComparableTurn(replayed.turn) !== toComparableTurn(exchange.turn) || replayed.fault)
      return failed('An unknown event changes the decoded response.')
    return replayed.warnings.length > exchange.warnings.length
      ? passed()
      : failed('An unknown event is dropped without a warning.')
  }),
]

function simulatedProbe(
  id: number,
  title: string,
  failureIds: string,
  run: (context: ProbeContext, exchange: ProbeExchange) => Promise<ProbeResult>,
): Probe {
  return {
    id,
    title,
    failureIds,
    advice: 'This is a bug in Dragoman. Report it, with the response of this server.',
    mode: 'drill',
    async run(context) {
      const call = await context.sendShared(CALL_REQUEST)
      const text = await context.sendShared(TEXT_REQUEST)
      const exchange = [call, text].find((one) => !one.fault && one.turn.parts.length > 0)
      return exchange ? run(context, exchange) : notOffered('No successful response is available to replay.')
    },
  }
}

/** Decodes the recorded frames again, with changes. */
function replayFrames(
  context: ProbeContext,
  exchange: ProbeExchange,
  change: (frames: Frame[]) => Frame[],
  chunkSize?: number,
): Promise<ProbeExchange> {
  const frames = change(getRecordedFrames(exchange))
  return context.replayResponse(exchange, encodeResponse(exchange, frames, chunkSize))
}

async function checkSimulatedFault(
  context: ProbeContext,
  exchange: ProbeExchange,
  response: FixedResponse,
  kinds: readonly FaultKind[],
): Promise<ProbeResult> {
  const replayed = await context.replayResponse(exchange, response)
  if (replayed.calls.length > 0) return failed('A call of the failed response would run.')
  return replayed.fault && kinds.includes(replayed.fault.kind) ? passed() : wrongFaultResult(replayed)
}

function wrongFaultResult({ fault: found, turn }: ProbeExchange): ProbeResult {
  return failed(
    found
      ? `It was classified as “${found.kind}”: ${truncateLine(found.message)}`
      : `It was decoded with the finish reason “${turn.finish.reason}”.`,
  )
}

function truncateChunks(response: FixedResponse): FixedResponse {
  return { ...response, chunks: response.chunks.map((chunk) => chunk.subarray(0, Math.ceil(chunk.length / 2))) }
}

const CHAT_OVERFLOW_MESSAGE =
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
const OVERFLOW_MESSAGES: Readonly<Record<string, string>> = {
  anthropic: 'prompt is too long: 210000 tokens > 200000 maximum',
  gemini: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  interactions: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  'code-assist': 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
}
