import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agent, type Model, type OnApproval, tool } from 'dragoman'
import { scriptedModel } from 'dragoman/testing'

/** The program that is tested: an agent that may refund an order, if somebody approves it. */
export function createSupportAgent(model: string | Model, onApproval: OnApproval, refunds: number[]) {
  const refund = tool({
    name: 'refund',
    description: 'Refunds an order.',
    parameters: { type: 'object', properties: { order: { type: 'integer' } }, required: ['order'] },
    execute: ({ order }) => ({ order, refunds: refunds.push(order) }),
  })
  return agent({ model, instructions: 'You work for a shop.', tools: [refund], onApproval })
}

const refundStep = { expect: { user: 'order 7' }, call: [{ name: 'refund', args: { order: 7 } }] }

/** Its tests. They need no key and no network. */
export function main(): void {
  test('an approved refund is made once', async () => {
    const model = scriptedModel([refundStep, { expect: { results: '"order":7' }, say: 'Refunded.' }])
    const refunds: number[] = []
    const { text } = await createSupportAgent(model, () => true, refunds).run('Refund order 7, please.')
    model.assertDone() // Every step was used, and every expectation was met.
    assert.deepEqual([text, refunds], ['Refunded.', [7]])
    assert.equal(model.requests[0]?.conversation.system, 'You work for a shop.')
    assert.deepEqual(model.requests[1]?.messages, [
      { role: 'user', text: 'Refund order 7, please.' },
      { role: 'assistant', text: '', calls: [{ name: 'refund', args: { order: 7 } }] },
      { role: 'tool', name: 'refund', text: '{"order":7,"refunds":1}' },
    ])
  })

  test('the model is told why a refund was refused', async () => {
    const model = scriptedModel([refundStep, { expect: { results: 'too late' }, say: 'Sorry.' }])
    const refunds: number[] = []
    const support = createSupportAgent(model, () => ({ approved: false, message: 'It is too late.' }), refunds)
    assert.equal((await support.run('Refund order 7, please.')).text, 'Sorry.')
    model.assertDone()
    assert.deepEqual(refunds, [])
  })

  test('half a call is never run', async () => {
    const model = scriptedModel([{ ...refundStep, misbehave: [{ kind: 'cut', at: 'arguments' }] }])
    const refunds: number[] = []
    const { finish } = await createSupportAgent(model, () => true, refunds).run('Refund order 7, please.')
    assert.deepEqual([finish, refunds], ['fault', []])
  })
}

if (/unit-test\.[jt]s$/.test(process.argv[1] ?? '')) main()
