import { createHash } from 'node:crypto'
import { type Model, provider, type TurnEvent } from 'dragoman'

/** A company gateway that speaks OpenAI's API, with headers, a fetch and a log of its own. */
export const companyGateway = (baseUrl: string, log: string[]) =>
  provider('company', {
    wire: 'openai-chat',
    baseUrl,
    apiKey: () => Promise.resolve('token-of-the-hour'),
    headers: { 'x-team': 'search' },
    async fetch(input, init) {
      const response = await fetch(input, init)
      log.push(`${response.status} ${response.url}`)
      return response
    },
  })

/** Middleware: the same request gets the same response, without asking the model again. */
export function withCache(model: Model, cache: Map<string, readonly TurnEvent[]>): Model {
  return {
    ...model,
    async *stream(request, options) {
      const { tools, turns, system } = request
      const key = createHash('sha256')
        .update(JSON.stringify([system, tools, turns]))
        .digest('hex')
      const received: TurnEvent[] = []
      for await (const event of cache.get(key) ?? model.stream(request, options)) {
        received.push(event)
        yield event
      }
      cache.set(key, received)
    },
  }
}
