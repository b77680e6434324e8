import { type Probe, type ProbeResult, degraded, failed, notOffered, passed } from './probe.ts'
import type { ProbeExchange } from '../probe-exchange.ts'
import { prompt, checkResponseText, explainMissingCall, resultsTurn, toFailure, WEATHER_TOOL } from './probe-helpers.ts'

const LOW_EFFORT = { effort: 'low' } as const

/** Probes 10, 11 and 28: reasoning and the prompt cache. */
export const REASONING_PROBES: readonly Probe[] = [
  {
    id: 10,
    title: 'visible reasoning',
    failureIds: 'T71, T76–T79',
    advice: 'Visible reasoning is optional.',
    async run(context) {
      const text = 'How many days are six weeks and three days? Think first, then reply with the number.'
      const exchange = await context.send({ ...prompt(text), params: LOW_EFFORT })
      const failure = toFailure(exchange)
      if (failure) return failure
      if (hasReasoning(exchange)) return passed()
      return notOffered(
        exchange.usage.reasoning > 0
          ? 'The model reasons, but does not return its reasoning.'
          : 'The response has no reasoning.',
      )
    },
  },
  {
    id: 11,
    title: 'reasoning that is sent back with a call',
    failureIds: 'T74, T75, T81–T84, T117',
    advice: 'Read the error; the profile flags "needsReasoning", "replay" and "signatures" control what is sent back.',
    async run(context) {
      const text = 'Which city is the capital of Norway? Think, then ask the tool for the weather there.'
      const request = { ...prompt(text, WEATHER_TOOL), params: LOW_EFFORT }
      const first = await context.send(request)
      if (first.calls.length === 0) return explainMissingCall(first)
      const hasNativeData = first.turn.parts.some(({ native }) => native?.data !== undefined)
      if (!hasReasoning(first) && !hasNativeData) return notOffered('The response with the call has no reasoning.')
      const calls = first.turn.parts.filter((part) => part.kind === 'call')
      const result = resultsTurn(calls, [{ kind: 'text', text: 'Oslo: 7 degrees, rain.' }])
      const second = await context.send({ ...request, turns: [...request.turns, first.turn, result] })
      if (second.fault) return failed(`The endpoint rejects its own reasoning: ${second.fault.message}`)
      return checkResponseText(second, /7|seven|rain/i)
    },
  },
  {
    id: 28,
    title: 'prompt cache',
    failureIds: 'T92',
    advice: 'No action needed: each request extends the previous one byte for byte, as prompt caches require.',
    async run(context) {
      const request = {
        system: LONG_SYSTEM_PROMPT,
        ...prompt('How many rules were you given? Reply with the number only.'),
      }
      const first = await context.send(request)
      if (first.fault?.kind === 'overflow') return contextTooSmallResult(first.fault.message)
      const failure = toFailure(first)
      if (failure) return failure
      const second = await context.send(request)
      if (second.fault) return toFailure(second) ?? failed(second.fault.message)
      if (second.usage.cacheRead > 0) return passed(`${second.usage.cacheRead} tokens came from the cache.`)
      const written = first.usage.cacheWrite + second.usage.cacheWrite
      return written > 0
        ? degraded('The endpoint wrote to its prompt cache, but did not read from it.')
        : notOffered('The endpoint reports no prompt cache.')
    },
  },
]

/** A local server reports its context window only now (T160). */
function contextTooSmallResult(message: string): ProbeResult {
  const window = Number(/(?:context|maximum|limit)\D{0,40}(\d{3,7})\b/i.exec(message)?.[1])
  const probeResult = notOffered(`The context window is too small for this probe: ${message}`)
  return window > 0 ? { ...probeResult, capabilities: { window } } : probeResult
}

function hasReasoning({ turn }: ProbeExchange): boolean {
  return turn.parts.some((part) => part.kind === 'reasoning')
}

/** Prompt caches start at a thousand tokens or more; this is about twice as long. */
const LONG_SYSTEM_PROMPT = Array.from(
  { length: 120 },
  (_none, at) => `Rule ${at + 1}: whoever counts the birds on the roof writes their number down before noon.`,
).join('\n')
