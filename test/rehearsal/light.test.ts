import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Turn } from '../../src/model/turn.ts'
import { countAssistantTurns, countAssistantTurnsInBytes } from '../../src/rehearsal/request/count-turns.ts'
import { createLoopScript } from '../../src/rehearsal/builtin-scripts/loop.ts'
import { startRehearsalServer } from '../../src/rehearsal/server.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { answers, ask, meaning, post, rehearse, said } from './support.ts'
import { assertCpuTime } from '../support/cpu-time.ts'

describe('turns are counted in the bytes', () => {
  for (const wire of wireIds) {
    test(`as they are in the body, on ${wire}`, async () => {
      const call = { name: 'read_file', args: { path: '"role":"assistant" "role":"model" "type":"function_call"' } }
      const rehearsal = await rehearse([{ think: 'Hm.', say: 'On.', call: [call, call], repeat: 6 }, { say: 'Done.' }])
      const turns: Turn[] = [said('Go: "role":"assistant"')]
      for (let n = 0; n < 8; n++) {
        const { turn } = await ask(rehearsal, wire, { turns })
        turns.push(turn, n < 6 ? answers(turn, 'text with "role":"user" in it') : said('More.'))
      }
      assert.equal(rehearsal.requests.length, 8)
      for (const [n, { body, bytes }] of rehearsal.requests.entries()) {
        const chunks = Array.from({ length: Math.ceil(bytes.length / 7) }, (_none, at) =>
          bytes.subarray(at * 7, at * 7 + 7),
        )
        assert.equal(countAssistantTurns(wire, body), n)
        assert.equal(countAssistantTurnsInBytes(wire, [bytes]), n)
        assert.equal(countAssistantTurnsInBytes(wire, chunks), n)
      }
      await rehearsal.close()
    })
  }
})

describe('in light mode', () => {
  for (const wire of wireIds) {
    test(`a script plays as ever on ${wire}`, async () => {
      const call = [{ name: 'read_file', args: { path: '{n}' } }]
      const steps = [
        { say: 'On.', call, repeat: 3 },
        { expect: { results: 'done' }, say: 'Done.' },
      ]
      const rehearsal = await rehearse(steps, { isLightweight: true })
      const turns: Turn[] = [said('Go.')]
      const seen: unknown[] = []
      for (let n = 0; n < 4; n++) {
        const { turn } = await ask(rehearsal, wire, { turns, stream: n % 2 === 0 })
        seen.push(...meaning(turn).slice(-1))
        turns.push(turn, answers(turn))
      }
      assert.deepEqual(
        seen.slice(0, 3),
        ['0', '1', '2'].map((path) => ({ call: 'read_file', input: { path } })),
      )
      assert.deepEqual(seen[3], { text: 'Done.' })
      assert.deepEqual([rehearsal.requests, rehearsal.failures, rehearsal.countRequests()], [[], [], 4])
      await rehearsal.close()
    })
  }

  test('two thousand turns in a row keep memory flat', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const rehearsal = await startRehearsalServer({
      scripts: { loop: createLoopScript(2000) },
      templateValues: { cwd: '/w' },
      isLightweight: true,
    })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    // The body grows in place, so that what is measured is the server.
    const body = Buffer.alloc(1_000_000)
    let length = body.write('{"model":"loop","stream":true,"messages":[{"role":"user","content":"Go."}')
    const send = () => {
      body.write(']}', length)
      return post(`${rehearsal.url}/v1/chat/completions`, body.subarray(0, length + 2), { agent })
    }
    const sizes: number[] = []
    for (let turn = 0; turn < 2000; turn++) {
      const { status, text } = await send()
      assert.equal(status, 200)
      assert.ok(text.includes(`"id":"call_loop_${turn}_0"`), text)
      const call = `{"id":"call_loop_${turn}_0","type":"function","function":{"name":"list_directory","arguments":"{}"}}`
      length += body.write(`,{"role":"assistant","content":null,"tool_calls":[${call}]}`, length)
      length += body.write(`,{"role":"tool","tool_call_id":"call_loop_${turn}_0","content":"a.txt b.txt"}`, length)
      if (turn % 500 === 499) {
        collect()
        sizes.push(process.memoryUsage().heapUsed)
      }
    }
    const end = await send()
    assert.match(end.text.replaceAll(/[^]*?"content":"([^"]*)"|[^]/g, '$1'), /All 2000 turns are done/)
    const [first = 0] = sizes
    const grown = (sizes.at(-1) ?? 0) - first
    assert.ok(grown < 4_000_000, `grew by ${grown} bytes: ${sizes.join(', ')}`)
    agent.destroy()
    await rehearsal.close()
  })
})

test('a stream of twenty thousand events is written quickly', async () => {
  const rehearsal = await rehearse([{ say: { text: 'word ', times: 20_000 }, pieces: 20_000 }])
  await assertCpuTime(async () => {
    for (const wire of wireIds) {
      const { turn } = await ask(rehearsal, wire)
      assert.deepEqual(meaning(turn), [{ text: 'word '.repeat(20_000) }])
    }
  }, 8 * wireIds.length)
  await rehearsal.close()
})
