import assert from 'node:assert/strict'
import type { TurnEvent } from '../../../src/model/event.ts'
import { type FoldedTurn, fold } from '../../../src/model/fold.ts'
import type { ModelRequest, ToolSpec } from '../../../src/model/request.ts'
import type { Model, RequestOptions } from '../../../src/provider/model.ts'
import { resolveModel } from '../../../src/provider/resolve-model.ts'
import { providers } from '../../../src/provider/providers.ts'
import { getBaseUrlVariable, type Environment, type Endpoint } from '../../../src/provider/endpoint.ts'

/** A tool as small as one can be. */
export const weather: ToolSpec = {
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

/** A first request. */
export function question(text = 'How is the weather in Oslo?', more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: '',
    system: 'Be brief.',
    tools: [weather],
    turns: [{ role: 'user', parts: [{ kind: 'text', text }] }],
    ...more,
  }
}

/** Unique enough for a test. */
export const KEY = 'abcdefghij0123456789'

/** A key as a vendor gives it, to be looked for where it must not be. */
export const SECRET = 'sk-canary-4f9d2c1b7a'

/** Where a name leads with the row's address moved to a server on loopback. */
export function aimed(name: string, url: string, env: Environment = {}): Endpoint {
  const id = name.split('/')[0] ?? ''
  const row = providers.find((one) => one.id === id)
  const variable = row?.keys[0] ?? 'NONE'
  const found = resolveModel(name, { [variable]: SECRET, [getBaseUrlVariable(id)]: url, ...env })
  assert.ok('provider' in found, JSON.stringify(found))
  return found
}

/** All events of one answer; they must end in exactly one finish, with nothing behind it. */
export async function eventsOf(
  port: Model,
  request: ModelRequest = question(),
  sending: Partial<RequestOptions> = {},
): Promise<TurnEvent[]> {
  const events: TurnEvent[] = []
  for await (const event of port.stream(request, { turnKey: KEY, ...sending })) events.push(event)
  assert.equal(events.filter(({ type }) => type === 'finish').length, 1, JSON.stringify(events))
  assert.equal(events.at(-1)?.type, 'finish')
  assert.ok(!JSON.stringify(events).includes(SECRET), 'the key is in the events')
  return events
}

/** One answer, folded. */
export async function answerOf(
  port: Model,
  request?: ModelRequest,
  sending?: Partial<RequestOptions>,
): Promise<FoldedTurn> {
  return fold(await eventsOf(port, request, sending), port.origin)
}
