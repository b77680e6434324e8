import type { FaultKind } from '../../model/fault.ts'
import {
  type Probe,
  createFailedProbeResult,
  createNotOfferedProbeResult,
  createPassedProbeResult,
  type ProbeResult,
} from './probe.ts'
import {
  takeFramesBeforeEnd,
  createErrorFrame,
  createErrorBody,
  simulateContentFilter,
  simulateMalformedCall,
  getRecordedFrames,
  createErrorResponse,
  insertUnknownEvent,
  encodeFramesAsResponse,
} from './alter-recorded-responses.ts'
import { type ProbeExchange, toComparableTurn } from '../probe-exchange.ts'
import type { FixedResponse, ProbeContext } from '../probe-runner.ts'
import {
  createCallRequest,
  createTextRequest,
  createUserTurn,
  truncateLine,
  toFailureResult,
  checkResponseText,
} from './probe-helpers.ts'

/** Probes 19 to 24, 26 and 27: what no model can be asked for is simulated with the bytes that it sent before. */
export const SIMULATED_RESPONSE_PROBES: readonly Probe[] = [
  createSimulatedProbe(
    19,
    'a response stopped by a content filter',
    'T55, T59, T125',
    async (probeContext, exchange) => {
      const { turn, calls } = await probeContext.replayResponse(
        exchange,
        encodeFramesAsResponse(exchange, simulateContentFilter(getRecordedFrames(exchange))),
      )
      if (calls.length > 0) return createFailedProbeResult('A call of a filtered response would run.')
      return turn.finish.reason === 'filter'
        ? createPassedProbeResult()
        : createFailedProbeResult(`It was decoded with the finish reason “${turn.finish.reason}”.`)
    },
  ),
  createSimulatedProbe(20, 'a malformed call', 'T41, T124', async (probeContext, exchange) => {
    const { calls } = await probeContext.replayResponse(
      exchange,
      encodeFramesAsResponse(exchange, simulateMalformedCall(getRecordedFrames(exchange))),
    )
    return calls.length === 0
      ? createPassedProbeResult()
      : createFailedProbeResult('A call with malformed arguments would run.')
  }),
  createSimulatedProbe(21, 'a stream without an end event', 'T53, T108', (probeContext, exchange) => {
    const frames = getRecordedFrames(exchange)
    const cut =
      frames.length > 1
        ? encodeFramesAsResponse(exchange, takeFramesBeforeEnd(frames, probeContext.wire))
        : truncateChunks(encodeFramesAsResponse(exchange, frames))
    return checkSimulatedFault(probeContext, exchange, cut, ['transport', 'decode'])
  }),
  createSimulatedProbe(22, 'an error in mid-stream', 'T107', (probeContext, exchange) => {
    const startedFrames = exchange.stream ? takeFramesBeforeEnd(getRecordedFrames(exchange), probeContext.wire) : []
    return checkSimulatedFault(
      probeContext,
      exchange,
      encodeFramesAsResponse(exchange, [...startedFrames, createErrorFrame(probeContext.wire)]),
      ['server'],
    )
  }),
  createSimulatedProbe(23, 'a rate limit with a retry time', 'T157, T158', async (probeContext, exchange) => {
    const response = createErrorResponse(429, createErrorBody(probeContext.wire, 'Too many requests', 'rate'), {
      'retry-after': '7',
    })
    const limited = await probeContext.replayResponse(exchange, response)
    return limited.fault?.kind === 'rate' && limited.fault.retryAfter === 7000
      ? createPassedProbeResult()
      : wrongFaultResult(limited)
  }),
  createSimulatedProbe(24, 'context window exceeded', 'T159', (probeContext, exchange) =>
    checkSimulatedFault(
      probeContext,
      exchange,
      createErrorResponse(
        400,
        createErrorBody(probeContext.wire, OVERFLOW_MESSAGES[probeContext.wire] ?? CHAT_OVERFLOW_MESSAGE, 'overflow'),
      ),
      ['overflow'],
    ),
  ),
  {
    id: 26,
    title: 'characters split across chunks',
    failureIds: 'T105',
    advice: 'No action needed: one UTF-8 decoder reads the whole response.',
    async run(probeContext) {
      const exchange = await probeContext.send({
        turns: [createUserTurn('Reply with exactly this line: Grüße, 你好, 🙂')],
      })
      const failure = toFailureResult(exchange)
      if (failure) return failure
      const split = await probeContext.replayResponse(
        exchange,
        encodeFramesAsResponse(exchange, getRecordedFrames(exchange), 1),
      )
      if (toComparableTurn(split.turn) !== toComparableTurn(exchange.turn))
        return createFailedProbeResult('Read one byte at a time, the response is decoded differently.')
      return checkResponseText(exchange, /Grüße.*你好.*🙂/) ?? createPassedProbeResult()
    },
  },
  createSimulatedProbe(27, 'unknown event types', 'T132, T140', async (probeContext, exchange) => {
    if (!exchange.stream) return createNotOfferedProbeResult('Responses are not streamed.')
    const replayed = await probeContext.replayResponse(
      exchange,
      encodeFramesAsResponse(exchange, insertUnknownEvent(getRecordedFrames(exchange))),
    )
    if (toComparableTurn(replayed.turn) !== toComparableTurn(exchange.turn) || replayed.fault)
      return createFailedProbeResult('An unknown event changes the decoded response.')
    return replayed.warnings.length > exchange.warnings.length
      ? createPassedProbeResult()
      : createFailedProbeResult('An unknown event is dropped without a warning.')
  }),
]

function createSimulatedProbe(
  id: number,
  title: string,
  failureIds: string,
  run: (probeContext: ProbeContext, exchange: ProbeExchange) => Promise<ProbeResult>,
): Probe {
  return {
    id,
    title,
    failureIds,
    advice: 'This is a bug in Dragoman. Report it, with the response of this server.',
    mode: 'drill',
    async run(probeContext) {
      const call = await probeContext.sendShared('call', createCallRequest)
      const text = await probeContext.sendShared('text', createTextRequest)
      const exchange = [call, text].find((one) => !one.fault && one.turn.parts.length > 0)
      return exchange
        ? run(probeContext, exchange)
        : createNotOfferedProbeResult('No successful response is available to replay.')
    },
  }
}

async function checkSimulatedFault(
  probeContext: ProbeContext,
  exchange: ProbeExchange,
  response: FixedResponse,
  kinds: readonly FaultKind[],
): Promise<ProbeResult> {
  const replayed = await probeContext.replayResponse(exchange, response)
  if (replayed.calls.length > 0) return createFailedProbeResult('A call of the failed response would run.')
  return replayed.fault && kinds.includes(replayed.fault.kind) ? createPassedProbeResult() : wrongFaultResult(replayed)
}

function wrongFaultResult({ fault: found, turn }: ProbeExchange): ProbeResult {
  return createFailedProbeResult(
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
  'code-assist': 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
}
