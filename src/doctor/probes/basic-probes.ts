import { type Probe, type ProbeResult, degraded, failed, notOffered, passed } from './probe.ts'
import { type ProbeExchange, toComparableTurn } from '../probe-exchange.ts'
import type { ProbeContext } from '../probe-runner.ts'
import {
  prompt,
  checkResponseText,
  CALL_REQUEST,
  explainMissingCall,
  LIST_NOTES_TOOL,
  quoteModelText,
  TEXT_REQUEST,
  toFailure,
  WEATHER_TOOL,
} from './probe-helpers.ts'

/** Probes 1 to 5 and 30: text, token counts and calls. */
export const BASIC_PROBES: readonly Probe[] = [
  {
    id: 1,
    title: 'text',
    failureIds: 'T53, T105–T112',
    advice: 'Check the address, the key and the name of the model.',
    async run(context) {
      const exchange = await context.sendShared(TEXT_REQUEST)
      return checkResponseText(exchange, /ready/i)
    },
  },
  {
    id: 2,
    title: 'token counts',
    failureIds: 'T116',
    advice: 'Dragoman estimates the usage from the text.',
    async run(context) {
      const exchange = await context.sendShared(TEXT_REQUEST)
      const { input, cacheRead, cacheWrite, output, reasoning } = exchange.usage
      if (exchange.fault) return toFailure(exchange) ?? passed()
      const counts = [input + cacheRead + cacheWrite, output + reasoning].filter((count) => count > 0)
      if (counts.length === 0) return degraded('The response has no token counts.')
      return counts.length === 2 ? passed() : degraded('The response counts only input tokens or only output tokens.')
    },
  },
  {
    id: 3,
    isRequired: true,
    title: 'one call',
    failureIds: 'T01–T31',
    advice: 'Use a model that was trained to call tools, and start local servers with their tool parser switched on.',
    async run(context) {
      const exchange = await context.sendShared(CALL_REQUEST)
      const [call] = exchange.calls
      if (!call) return (await probeTextTools(context, exchange)) ?? explainMissingCall(exchange)
      if (call.name !== WEATHER_TOOL.name) return failed(`The model called ${call.name}, which is not a declared tool.`)
      if (typeof call.input?.['city'] !== 'string')
        return degraded(`The call has no city argument: ${quoteModelText(call.raw)}`)
      return /oslo/i.test(call.input['city'])
        ? passed()
        : degraded(`The call has other arguments than requested: ${quoteModelText(call.raw)}`)
    },
  },
  {
    id: 4,
    title: 'two calls at once',
    failureIds: 'T01–T05, T10',
    advice: 'Parallel calls are optional; sequential calls are slower.',
    async run(context) {
      const text = 'What is the weather in Oslo and in Lima? Call the tool for both cities at the same time.'
      const exchange = await context.send(prompt(text, WEATHER_TOOL))
      if (exchange.calls.length === 0) return explainMissingCall(exchange)
      if (exchange.calls.length === 1) return notOffered('The model makes one call at a time.')
      const cities = exchange.calls.map(({ input }) => JSON.stringify(input ?? {}).toLowerCase())
      const both = ['oslo', 'lima'].every((city) => cities.some((one) => one.includes(city)))
      if (new Set(exchange.calls.map(({ id }) => id)).size < exchange.calls.length)
        return failed('Two calls have the same id.')
      return both
        ? passed()
        : degraded(`The calls have other arguments than requested: ${quoteModelText(cities.join(', '))}`)
    },
  },
  {
    id: 5,
    title: 'a call without arguments',
    failureIds: 'T17, T128',
    advice: 'Dragoman treats missing arguments as an empty object.',
    async run(context) {
      const exchange = await context.send(prompt('List my notes. Use the tool.', LIST_NOTES_TOOL))
      const [call] = exchange.calls
      if (!call) return explainMissingCall(exchange)
      return Object.keys(call.input ?? {}).length === 0
        ? passed()
        : degraded(`The call has arguments that the tool does not declare: ${quoteModelText(call.raw)}`)
    },
  },
  {
    id: 30,
    title: 'the same response without streaming',
    failureIds: 'T26, T113',
    advice: 'Dragoman streams responses unless the profile sets "stream" to false.',
    async run(context) {
      if (context.capabilities.stream === false)
        return passed('Streaming is off for this endpoint, so there is nothing to compare.')
      const streamed = await context.sendShared(CALL_REQUEST)
      const whole = await context.send({ ...CALL_REQUEST, params: { stream: false } })
      const failure = toFailure(whole)
      if (failure) return failure
      if (streamed.fault) return degraded('Only the request without streaming succeeded.')
      if (toComparableTurn(whole.turn) === toComparableTurn(streamed.turn)) return passed()
      if (whole.calls.length === 0 && streamed.calls.length > 0) return failed('The call is lost without streaming.')
      return degraded('The two responses have different text, which a model may do.')
    },
  },
]

/** A model without native calls may call tools that are described in the prompt (T156). */
async function probeTextTools(context: ProbeContext, { fault, turn }: ProbeExchange): Promise<ProbeResult | undefined> {
  if (fault || turn.parts.length === 0 || turn.finish.reason !== 'stop') return undefined
  const isBetter = ({ calls }: ProbeExchange): boolean => calls.length > 0
  const exchange = await context.retryWithCapabilities(CALL_REQUEST, { tools: 'text' }, isBetter)
  return (
    exchange &&
    degraded('The model makes no native calls, but calls tools that are described in the prompt (tools: "text").')
  )
}
