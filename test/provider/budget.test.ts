import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TurnEvent } from '../../src/model/event.ts'
import type { Usage } from '../../src/model/usage.ts'
import type { Model } from '../../src/provider/model.ts'
import { withBudget, estimateUsage, createBudgetLedger } from '../../src/provider/middleware/budget.ts'
import { withRetry } from '../../src/provider/middleware/retry.ts'
import { eventsOf, KEY, question } from './support/ask.ts'
import { hastyClock } from './support/clock.ts'

const USED: Usage = { input: 300, cacheRead: 0, cacheWrite: 0, output: 100, reasoning: 0 }

/** A port that uses so much each time, and fails so often. */
function spender(fails = 0): Model & { asked: number } {
  const self = {
    origin: { provider: 'p', wire: 'openai-chat', model: 'm' } as const,
    asked: 0,
    async *stream(): AsyncGenerator<TurnEvent> {
      self.asked++
      yield { type: 'part-open', index: 0, kind: 'text' }
      yield { type: 'part-delta', index: 0, kind: 'text', text: 'x'.repeat(400) }
      yield { type: 'usage', usage: USED }
      yield self.asked <= fails
        ? { type: 'finish', reason: 'fault', fault: { kind: 'server', message: 'Down.' } }
        : { type: 'finish', reason: 'stop' }
    },
  }
  return self
}

const cheap = (_origin: unknown, usage: Usage): number => (usage.input * 1 + usage.output * 10) / 1_000_000
const small = question('Hi', { system: '', tools: [], params: { maxTokens: 100 } })

function faultOf(events: readonly TurnEvent[]) {
  const last = events.at(-1)
  return last?.type === 'finish' ? last.fault : undefined
}

test('tokens: what does not fit is refused before it is sent', async () => {
  const inner = spender()
  const ledger = createBudgetLedger({ tokens: 850 }, cheap)
  const model = withBudget(inner, ledger)
  assert.equal(faultOf(await eventsOf(model, small)), undefined)
  assert.equal(faultOf(await eventsOf(model, small)), undefined)
  assert.equal(ledger.spent.tokens, 800)
  const fault = faultOf(await eventsOf(model, small))
  assert.deepEqual([fault?.kind, fault?.code], ['quota', 'budget'])
  assert.equal(
    fault?.message,
    'The budget is not sufficient: 800 of 850 tokens are spent, and this request may use 101.',
  )
  assert.equal(inner.asked, 2)
})

test('money', async () => {
  const ledger = createBudgetLedger({ money: 0.002 }, cheap)
  const model = withBudget(spender(), ledger)
  assert.equal(faultOf(await eventsOf(model, small)), undefined)
  assert.equal(ledger.spent.money, 0.0013)
  assert.match(
    faultOf(await eventsOf(model, small))?.message ?? '',
    /\$0\.0013 of \$0\.0020 are spent, and this request may cost \$0\.0010/,
  )
})

test('a price that nobody knows is no price of nothing: no limit in money can hold', async () => {
  const inner = spender()
  const model = withBudget(
    inner,
    createBudgetLedger({ money: 1 }, () => undefined),
  )
  const fault = faultOf(await eventsOf(model, small))
  assert.equal(fault?.code, 'budget')
  assert.equal(fault?.message, 'The price of p/m is unknown, so a cost limit cannot be enforced.')
  assert.equal(inner.asked, 0)
  // A limit in tokens needs no price.
  const counted = withBudget(
    inner,
    createBudgetLedger({ tokens: 1000 }, () => undefined),
  )
  assert.equal(faultOf(await eventsOf(counted, small)), undefined)
})

test('an answer that is longer than anybody thought is stopped when it can no longer be paid for', async () => {
  let said = 0
  const talker: Model = {
    origin: spender().origin,
    async *stream(): AsyncGenerator<TurnEvent> {
      yield { type: 'part-open', index: 0, kind: 'text' }
      for (; said < 10_000; said++) yield { type: 'part-delta', index: 0, kind: 'text', text: 'x'.repeat(100) }
      yield { type: 'finish', reason: 'stop' }
    },
  }
  // 4096 tokens are set aside, and ten thousand can be paid for.
  const ledger = createBudgetLedger({ money: 0.1 }, cheap)
  const fault = faultOf(await eventsOf(withBudget(talker, ledger), question('Hi', { system: '', tools: [] })))
  assert.equal(fault?.code, 'budget')
  assert.match(fault?.message ?? '', /the response was stopped/)
  assert.ok(said > 350 && said < 425, `${said} pieces were said`)
  assert.ok(ledger.spent.money > 0.095 && ledger.spent.money < 0.106, String(ledger.spent.money))
})

test('failed attempts are paid for, inside and outside', async () => {
  for (const inside of [true, false]) {
    const ledger = createBudgetLedger({ tokens: 100_000 }, cheap)
    const patience = { clock: hastyClock() }
    const inner = spender(2)
    const model = inside
      ? withRetry(withBudget(inner, ledger), patience)
      : withBudget(withRetry(inner, patience), ledger)
    await eventsOf(model, small)
    assert.equal(inner.asked, 3)
    assert.equal(ledger.spent.tokens, 1200)
  }
})

test('an answer without numbers counts by its length', async () => {
  const ledger = createBudgetLedger({ tokens: 100_000 }, cheap)
  const silent: Model = {
    origin: spender().origin,
    async *stream(): AsyncGenerator<TurnEvent> {
      yield { type: 'part-delta', index: 0, kind: 'text', text: 'x'.repeat(400) }
      yield { type: 'finish', reason: 'aborted' }
    },
  }
  await eventsOf(withBudget(silent, ledger), small)
  assert.equal(ledger.spent.tokens, 101)
})

test('what is under way is set aside, and given back', async () => {
  const ledger = createBudgetLedger({ tokens: 900 }, cheap)
  const request = question('Hi', { system: '', tools: [], params: { maxTokens: 500 } })
  const model = withBudget(spender(), ledger)
  const running = model.stream(request, { turnKey: KEY })[Symbol.asyncIterator]()
  await running.next()
  assert.equal(faultOf(await eventsOf(model, request))?.code, 'budget')
  await running.return?.()
  assert.equal(faultOf(await eventsOf(model, request)), undefined)
})

test('the estimate counts everything that is sent', () => {
  const request = question('x'.repeat(4000))
  const { input, output } = estimateUsage(request)
  assert.ok(input > 1000 && input < 1100, String(input))
  assert.ok(output > 0)
})
