import assert from 'node:assert/strict'
import type { TurnEvent } from '../../../src/model/event.ts'
import { type Folded, fold } from '../../../src/model/fold.ts'
import type { Request, ToolSpec } from '../../../src/model/request.ts'
import type { ModelPort, Sending } from '../../../src/provider/port.ts'
import { resolveModel } from '../../../src/provider/resolve.ts'
import { rows } from '../../../src/provider/table.ts'
import { baseUrlVariable, type Environment, type Target } from '../../../src/provider/target.ts'

/** A tool as small as one can be. */
export const weather: ToolSpec = {
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

/** A first request. */
export function question(text = 'How is the weather in Oslo?', more: Partial<Request> = {}): Request {
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
export function aimed(name: string, url: string, env: Environment = {}): Target {
  const id = name.split('/')[0] ?? ''
  const row = rows.find((one) => one.id === id)
  const variable = row?.keys[0] ?? 'NONE'
  const found = resolveModel(name, { [variable]: SECRET, [baseUrlVariable(id)]: url, ...env })
  assert.ok('row' in found, JSON.stringify(found))
  return found
}

/** All events of one answer; they must end in exactly one finish, with nothing behind it. */
export async function eventsOf(
  port: ModelPort,
  request: Request = question(),
  sending: Partial<Sending> = {},
): Promise<TurnEvent[]> {
  const events: TurnEvent[] = []
  for await (const event of port.ask(request, { key: KEY, ...sending })) events.push(event)
  assert.equal(events.filter(({ type }) => type === 'finish').length, 1, JSON.stringify(events))
  assert.equal(events.at(-1)?.type, 'finish')
  assert.ok(!JSON.stringify(events).includes(SECRET), 'the key is in the events')
  return events
}

/** One answer, folded. */
export async function answerOf(port: ModelPort, request?: Request, sending?: Partial<Sending>): Promise<Folded> {
  return fold(await eventsOf(port, request, sending), port.origin)
}
