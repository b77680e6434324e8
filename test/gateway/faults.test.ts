import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import { type RehearsalServer, startRehearsalServer } from '../../src/rehearsal/server.ts'
import type { RehearsalScript, ScriptStep } from '../../src/rehearsal/script/script.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { meaning } from '../rehearsal/support.ts'
import { askGateway, gatewayTo } from './support.ts'

const CALLS = ['a', 'b'].map((path) => ({ name: 'read_file', args: { path: `${path}/with/a/long/name` } }))
const good: ScriptStep = { say: 'Reading.', call: CALLS }
const bad = (...misbehave: NonNullable<ScriptStep['misbehave']>): RehearsalScript => ({
  steps: [{ ...good, misbehave }],
})

const SCRIPTS: Record<string, RehearsalScript> = {
  cut: bad({ kind: 'cut', at: 'arguments' }),
  'cut-after-call': bad({ kind: 'cut', at: 'after-call', how: 'end' }),
  error: bad({ kind: 'error', at: 'arguments', trouble: 'overloaded' }),
  stall: bad({ kind: 'stall', at: 'text' }),
  silent: bad({ kind: 'stall', at: 'start' }),
  rate: bad({ kind: 'status', status: 429, hint: 'seconds', wait: 7000 }),
  down: bad({ kind: 'status', status: 503, hint: 'none' }),
  malformed: bad('malformed-call'),
  same: bad('ids-same'),
  missing: bad('ids-missing'),
  split: bad('name-split'),
  cumulative: bad('arguments-cumulative'),
  interleaved: bad('interleaved'),
  doubled: bad('arguments-doubled'),
  length: bad({ kind: 'length' }),
}

const MEANS = CALLS.map(({ name, args }) => ({ call: name, input: args }))

describe('what goes wrong upstream', () => {
  let rehearsal: RehearsalServer
  let gateway: Gateway
  /** One that does not begin a response before it knows what comes, however slow the machine is. */
  let patientGateway: Gateway
  before(async () => {
    rehearsal = await startRehearsalServer({ scripts: SCRIPTS })
    const options = { routes: [], hasNoDefault: true }
    gateway = await gatewayTo(rehearsal, wireIds, { ...options, maxSilenceMs: 1000 })
    patientGateway = await gatewayTo(rehearsal, wireIds, options)
  })
  after(async () => {
    await gateway.close()
    await patientGateway.close()
    await rehearsal.close()
  })

  for (const upstream of wireIds) {
    for (const client of wireIds) {
      if (client === upstream) continue
      describe(`${upstream} → ${client}`, () => {
        const ask = (script: string, stream = true, through = gateway) =>
          askGateway(through, client, { model: `up-${upstream}/${script}`, stream })

        for (const script of ['cut', 'cut-after-call', 'error', 'stall'])
          test(`${script}: an error after what was said, and no call`, async () => {
            const { turn, answered } = await ask(script)
            assert.equal(turn.finish.reason, 'fault', answered.text)
            assert.equal(answered.broke, false, 'the error is told, not only seen')
            assert.ok(turn.finish.fault?.message)
            assert.deepEqual(splitRunnableCalls(turn).calls, [])
          })

        test('rate and overload: the status, the words and when to try again', async () => {
          for (const stream of [true, false]) {
            const rate = await ask('rate', stream, patientGateway)
            assert.equal(rate.answered.status, 429, rate.answered.text)
            assert.equal(rate.turn.finish.fault?.kind, 'rate')
            assert.ok(Number(rate.answered.headers['retry-after']) >= 7)
            assert.equal(rate.answered.headers['x-should-retry'], 'true')
            const down = await ask('down', stream, patientGateway)
            assert.equal(down.answered.status, 503, down.answered.text)
            assert.equal(down.turn.finish.fault?.kind, 'server')
          }
        })

        test('a malformed call is never a call', async () => {
          for (const stream of [true, false]) {
            const { turn, answered } = await ask('malformed', stream)
            assert.deepEqual(splitRunnableCalls(turn).calls, [], answered.text)
            assert.notEqual(turn.finish.reason, 'calls')
            assert.notEqual(turn.finish.reason, 'stop')
            // Clients of Google's API ask again at this reason.
            if (client === 'gemini') assert.equal(turn.finish.reason, 'malformed-call', answered.text)
          }
        })

        // On Gemini's wires, a call with the id of an earlier one is that call again (T128).
        const isGoogle = upstream === 'gemini' || upstream === 'code-assist'
        for (const script of [
          ...(isGoogle ? [] : ['same']),
          'missing',
          'split',
          'cumulative',
          'interleaved',
          'doubled',
        ])
          test(`${script}: two calls with ids of their own`, async () => {
            const { turn, answered } = await ask(script)
            const { calls, rejected } = splitRunnableCalls(turn)
            assert.deepEqual(rejected, [], answered.text)
            assert.deepEqual(meaning({ ...turn, parts: calls }), MEANS, answered.text)
            const ids = calls.map(({ native, id }) => native?.id ?? id)
            assert.equal(new Set(ids).size, 2, answered.text)
          })

        test('a call that was cut off at the length limit is left out', async () => {
          const { turn, answered } = await ask('length')
          assert.equal(turn.finish.reason, 'length', answered.text)
          const { calls, rejected } = splitRunnableCalls(turn)
          assert.deepEqual(calls, [])
          assert.deepEqual(
            rejected.map(({ call }) => call.input?.['path']),
            [CALLS[0]?.args.path],
          )
        })
      })
    }
  }

  for (const wire of wireIds)
    test(`${wire}: nothing of this runs on the same wire either`, async () => {
      for (const script of ['cut', 'cut-after-call', 'error', 'malformed', 'stall', 'silent']) {
        const { turn } = await askGateway(gateway, wire, { model: `up-${wire}/${script}` })
        assert.deepEqual(splitRunnableCalls(turn).calls, [], script)
        // The bytes of a response that came to its end pass unchanged.
        if (script !== 'malformed') assert.notEqual(turn.finish.reason, 'calls', script)
      }
    })
})
