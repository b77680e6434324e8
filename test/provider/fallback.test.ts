import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TurnEvent } from '../../src/model/event.ts'
import type { Fault } from '../../src/model/fault.ts'
import { fold } from '../../src/model/fold.ts'
import type { Model } from '../../src/provider/model.ts'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import { withFallback } from '../../src/provider/middleware/fallback.ts'
import { withRetry } from '../../src/provider/middleware/retry.ts'
import { answers } from './support/answers.ts'
import { aimed, answerOf, eventsOf } from './support/ask.ts'
import { hastyClock } from './support/clock.ts'
import { reply, serve, stream } from './support/server.ts'

/** A port that answers with its name, or fails. */
function model(name: string, fault?: Fault, window?: number): Model & { asked: string[] } {
  const asked: string[] = []
  return {
    origin: { provider: name, wire: 'openai-chat', model: `${name}-1` },
    ...(window !== undefined && { window }),
    asked,
    async *stream(_request, { turnKey }): AsyncGenerator<TurnEvent> {
      asked.push(turnKey)
      yield { type: 'part-open', index: 0, kind: 'text' }
      yield { type: 'part-close', index: 0, part: { kind: 'text', text: `I am ${name}.` } }
      yield fault ? { type: 'finish', reason: 'fault', fault } : { type: 'finish', reason: 'stop' }
    },
  }
}

test('the next one answers, and the turn says who did', async () => {
  const first = model('first', { kind: 'server', message: 'Down.' })
  const second = model('second')
  const chain = withFallback([first, second])
  const events = await eventsOf(chain)
  const { turn, warnings, attempts } = fold(events, chain.origin)
  assert.deepEqual(turn.origin, second.origin)
  assert.deepEqual(turn.parts, [{ kind: 'text', text: 'I am second.' }])
  assert.deepEqual(warnings, [{ code: 'fallback', message: 'first/first-1: Down. Continuing with second/second-1.' }])
  assert.equal(attempts?.length, 1)
  assert.notEqual(first.asked[0], second.asked[0])
  // A server may be up again the next time.
  await eventsOf(chain)
  assert.equal(first.asked.length, 2)
})

test('who has no money, no key or no such model is not asked again', async () => {
  const faults: Fault[] = [
    { kind: 'quota', message: 'No money.' },
    { kind: 'auth', message: 'No key.' },
    { kind: 'invalid', message: 'No such model.', status: 404 },
  ]
  for (const fault of faults) {
    const first = model('first', fault, 1000)
    const chain = withFallback([first, model('second', undefined, 500)])
    assert.equal(chain.window, 1000)
    await eventsOf(chain)
    assert.equal(chain.window, 500)
    assert.equal(chain.origin.provider, 'second')
    const { turn } = fold(await eventsOf(chain), first.origin)
    assert.equal(turn.origin.provider, 'second')
    assert.equal(first.asked.length, 1)
  }
})

test('what is wrong with the request stays wrong', async () => {
  const faults: Fault[] = [
    { kind: 'invalid', message: 'Wrong.', status: 400 },
    { kind: 'overflow', message: 'Too long.' },
    { kind: 'policy', message: 'No.' },
    { kind: 'quota', code: 'budget', message: 'Spent.' },
  ]
  for (const fault of faults) {
    const second = model('second')
    const last = (await eventsOf(withFallback([model('first', fault), second]))).at(-1)
    assert.ok(last?.type === 'finish' && last.fault?.kind === fault.kind)
    assert.equal(second.asked.length, 0)
  }
})

test('all fail: the last one has the last word', async () => {
  const chain = withFallback([
    model('a', { kind: 'server', message: 'A.' }),
    model('b', { kind: 'quota', message: 'B.' }),
  ])
  const last = (await eventsOf(chain)).at(-1)
  assert.ok(last?.type === 'finish' && last.fault?.message === 'B.')
})

test('after the retries, over another wire', async (t) => {
  const down = await serve(t, (response) => reply(response, { error: { message: 'Overloaded' } }, 503))
  const up = await serve(t, (response, _heard, turn) => {
    if (turn === 0) reply(response, { error: { message: 'Overloaded' } }, 529)
    else stream(response, answers.anthropic.call('get_weather', { city: 'Oslo' }).events)
  })
  const patience = { clock: hastyClock(), attempts: 2 }
  const post = createHttpClient({})
  const chain = withFallback([
    withRetry(createModel(aimed('gemini/gemini-2.5-pro', down.url), { httpClient: post }), patience),
    withRetry(createModel(aimed('anthropic/claude-sonnet-5-5', up.url), { httpClient: post }), patience),
  ])
  const { turn, attempts } = await answerOf(chain)
  assert.equal(down.heard.length, 2)
  assert.equal(turn.finish.reason, 'calls')
  // The second model's own retry does not make the first one the maker again.
  assert.deepEqual(turn.origin, { provider: 'anthropic', wire: 'anthropic', model: 'm' })
  assert.equal(attempts?.length, 3)
})
