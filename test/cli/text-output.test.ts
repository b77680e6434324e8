import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeRunProblem, getHeadlessAdvice } from '../../src/cli/output/describe-run.ts'
import { createTextOutput } from '../../src/cli/output/text-output.ts'
import type { TurnEvent } from '../../src/model/event.ts'
import { NO_USAGE } from '../../src/model/usage.ts'

/** What a person reads when an attempt fails. */
function told(again: Omit<Extract<TurnEvent, { type: 'open' }>, 'type'>): string {
  let err = ''
  const output = createTextOutput({ out: () => {}, err: (text) => (err += text) })
  output.onEvent({ type: 'turn', event: { type: 'open', anew: true, ...again } })
  return err
}

test('an attempt that failed: why, and what happens next', () => {
  const fault = { kind: 'rate', message: 'groq asks us to slow down: too fast. Use less.' } as const
  assert.equal(told({ fault, wait: 900 }), '… groq asks us to slow down: too fast. Use less. Retrying.\n')
  assert.equal(told({ fault, wait: 42_000 }), '… groq asks us to slow down: too fast. Use less. Retrying in 42 s.\n')
  const origin = { provider: 'xai', wire: 'openai-chat', model: 'grok' } as const
  assert.equal(told({ fault, origin }), '… groq asks us to slow down: too fast. Use less. Falling back to xai/grok.\n')
  assert.equal(told({ fault: { kind: 'server', message: 'HTTP\n\u001b[31m' } }), '… HTTP \\u{1b}[31m. Retrying.\n')
})

test('each front end says in its own words how to continue', () => {
  const totals = { session: 's', turns: 1, usage: NO_USAGE }
  const close = { type: 'run-close', reason: 'turn-limit', text: '', ...totals } as const
  const advice = { afterStop: 'send a message', afterFault: 'Send it again.', afterOverflow: 'Use /compact.' }
  assert.equal(describeRunProblem(close, getHeadlessAdvice({})), 'turn limit reached; continue with dragoman --resume')
  assert.equal(describeRunProblem(close, advice), 'turn limit reached; send a message')
  const fault = { kind: 'server', message: 'It broke' } as const
  assert.equal(describeRunProblem({ ...close, reason: 'fault', fault }, advice), 'It broke. Send it again.')
  const overflow = { kind: 'overflow', message: 'Too long' } as const
  assert.equal(describeRunProblem({ ...close, reason: 'fault', fault: overflow }, advice), 'Too long. Use /compact.')
  assert.equal(describeRunProblem({ ...close, reason: 'loop' }, advice), 'stopped: the model repeated the same calls')
  assert.equal(describeRunProblem({ ...close, reason: 'done' }, advice), undefined)
  const unsaved = getHeadlessAdvice({ isSaved: false })
  assert.equal(describeRunProblem(close, unsaved), 'turn limit reached')
  assert.equal(describeRunProblem({ ...close, reason: 'fault', fault }, unsaved), 'It broke.')
})
