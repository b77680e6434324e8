import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Turn } from '../../src/model/turn.ts'
import { startRehearsalServer } from '../../src/rehearsal/server.ts'
import type { RehearsalScript, ScriptStep } from '../../src/rehearsal/script/script.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { answers, ask, BODIES, meaning, pathOf, post, rehearse, said, TOOLS, withStep } from './support.ts'

describe('expectations', () => {
  const call: ScriptStep = { call: [{ name: 'read_file', args: { path: 'a' } }] }
  const cases: [what: string, step: ScriptStep, says: RegExp][] = [
    ['user', { expect: { user: { matches: '^Stop' } } }, /The last user message must match \/\^Stop\/; it is "Go\."\./],
    ['system', { expect: { system: 'pirate' } }, /The system prompt must contain "pirate"; it is "Be brief\."\./],
    [
      'tools',
      { expect: { tools: ['read_file', 'fly'] } },
      /The tool fly is not declared; the declared ones are read_file, write_file\./,
    ],
    ['results', { expect: { results: ['x', 'y'] } }, /The tool results must contain "x"; it is ""\./],
    ['not', { expect: { user: { not: 'Go' } } }, /must not contain "Go"/],
    ['request', { expect: { request: 2 } }, /This is request 1 to the script, not request 2\./],
    ['turns', { expect: { turns: 1 } }, /The number of assistant turns since the start is 0, not 1\./],
    ['take', { take: { id: { $from: 'user', match: 'id=(\\d+)' } }, say: '{id}' }, /The user text has no match for/],
  ]
  for (const [what, step, says] of cases) {
    test(`${what}: a request that is not as expected is refused in a sentence, and recorded`, async () => {
      for (const wire of wireIds) {
        await withStep(step, async (rehearsal) => {
          const { turn, answered } = await ask(rehearsal, wire)
          assert.equal(answered.status, 400)
          assert.equal(turn.finish.fault?.kind, 'invalid')
          assert.match(turn.finish.fault.message, says)
          assert.deepEqual(
            rehearsal.failures.map(({ requestNumber, wire: on, script }) => [requestNumber, on, script]),
            [[1, wire, 'script']],
          )
          assert.match(rehearsal.failures[0]?.message ?? '', says)
        })
      }
    })
  }

  test('what is as expected passes, and results are seen on every wire', async () => {
    const expect = {
      user: 'Go.',
      system: 'brief',
      tools: ['write_file'],
      results: ['done', { not: 'undone' }],
      turns: 1,
    }
    for (const wire of wireIds) {
      const rehearsal = await rehearse([call, { expect: { ...expect, wire, request: 2 }, say: 'Fine.' }])
      const turns: Turn[] = [said('Go.')]
      const first = await ask(rehearsal, wire, { turns })
      const second = await ask(rehearsal, wire, { turns: [...turns, first.turn, answers(first.turn)] })
      assert.deepEqual(meaning(second.turn), [{ text: 'Fine.' }], second.answered.text)
      await rehearsal.close()
    }
  })
})

describe('which step answers', () => {
  test('conditions go before the order', async () => {
    const rehearsal = await rehearse([{ say: 'In order.' }, { when: { user: 'help' }, say: 'Out of order.' }])
    const ordinary = await ask(rehearsal, 'anthropic')
    const asked = await ask(rehearsal, 'anthropic', { turns: [said('help me')] })
    assert.deepEqual(
      [...meaning(ordinary.turn), ...meaning(asked.turn)],
      [{ text: 'In order.' }, { text: 'Out of order.' }],
    )
    await rehearsal.close()
  })

  test('the number of results decides, also if text of a response that broke off is in between', async () => {
    const rehearsal = await rehearse([
      { when: { resultCount: 0 }, call: [{ name: 'read_file', args: { path: 'a.txt' } }] },
      { when: { resultCount: 1 }, say: 'Read.' },
    ])
    const first = await ask(rehearsal, 'openai-chat')
    const second = await ask(rehearsal, 'openai-chat', { turns: [said('Go.'), first.turn, answers(first.turn)] })
    assert.deepEqual(meaning(second.turn), [{ text: 'Read.' }])
    const again = await ask(rehearsal, 'openai-chat', { turns: [said('Go.'), second.turn, said('Continue.')] })
    assert.deepEqual(meaning(again.turn), meaning(first.turn))
    await rehearsal.close()
  })

  test('a script may count from what the person said last', async () => {
    const rehearsal = await rehearse([{ say: 'First.' }, { say: 'Second.' }], { start: 'prompt' })
    const first = await ask(rehearsal, 'gemini')
    const again = await ask(rehearsal, 'gemini', { turns: [said('Go.'), first.turn, said('Again.')] })
    assert.deepEqual(meaning(again.turn), [{ text: 'First.' }])
    await rehearsal.close()
  })

  test('models go by the last part of their name, and others to the fallback', async () => {
    const scripts: Record<string, RehearsalScript> = {
      one: { steps: [{ say: '1' }] },
      'dir/two': { steps: [{ say: '2' }] },
    }
    const rehearsal = await startRehearsalServer({ scripts, fallbackScript: 'one' })
    const models = ['one', 'rehearsal/one', 'rehearsal/dir/two', 'models/dir/two', 'gpt-5']
    const texts: unknown[] = []
    for (const model of models) texts.push((await ask(rehearsal, 'openai-chat', { model })).turn.parts[0])
    assert.deepEqual(
      texts.map((part) => (part as { text: string }).text),
      ['1', '1', '2', '2', '1'],
    )
    await rehearsal.close()
  })

  test('a model that is not there is not found, in the words of the vendor', async () => {
    const rehearsal = await rehearse([])
    for (const wire of wireIds) {
      const { answered, turn } = await ask(rehearsal, wire, { model: 'nobody' })
      assert.equal(answered.status, 404)
      assert.match(turn.finish.fault?.message ?? '', /Unknown model "nobody"; the models are script\./)
    }
    await rehearsal.close()
  })
})

test('values, rounds, and what the request holds go into texts and arguments', async () => {
  const step: ScriptStep = {
    take: { name: { $from: 'user', match: 'I am (\\w+)' }, mood: { $from: 'system', match: 'grim', else: 'brief' } },
    say: 'Hello {name}, {mood} on {wire}, round {n}.',
    call: [
      { name: 'write_file', args: { path: '{cwd}/{name}', content: { $from: 'conversation', match: 'key=(\\S+)' } } },
    ],
  }
  const rehearsal = await rehearse([step], { templateValues: { cwd: '/w' } })
  const { turn } = await ask(rehearsal, 'openai-responses', { turns: [said('I am Mia. key=k-7')] })
  assert.deepEqual(meaning(turn), [
    { text: 'Hello Mia, brief on openai-responses, round 0.' },
    { call: 'write_file', input: { path: '/w/Mia', content: 'k-7' } },
  ])
  await rehearsal.close()
})

test('ids that a shortened conversation still holds are not given again', async () => {
  const call: ScriptStep = { call: [{ name: 'read_file', args: { path: 'a' } }], repeat: 9 }
  for (const wire of wireIds) {
    const rehearsal = await rehearse([call])
    const first = await ask(rehearsal, wire, { turns: [said('Go.'), await spoken(), said('More.')] })
    // The head of the conversation is gone: what was the second answer is the first now.
    const turns = [said('A summary.'), first.turn, answers(first.turn)]
    const second = await ask(rehearsal, wire, { turns })
    const third = await ask(rehearsal, wire, { turns: [...turns, second.turn, answers(second.turn)] })
    assert.equal(third.answered.status, 200, third.answered.text)
    assert.deepEqual(rehearsal.failures, [])
    await rehearsal.close()
  }
})

async function spoken(): Promise<Turn> {
  return (await withStep({ say: 'Words.' }, (rehearsal) => ask(rehearsal, 'openai-chat'))).turn
}

describe('what is recorded', () => {
  test('the request as it came, and in the plain form', async () => {
    const rehearsal = await rehearse([{ say: 'Hi.' }])
    for (const wire of wireIds) {
      await post(`${rehearsal.url}/any/prefix${pathOf(wire, 'script', false)}`, BODIES[wire], {
        headers: { 'x-mine': 'yes' },
      })
      const last = rehearsal.requests.at(-1)
      assert.equal(last?.wire, wire)
      assert.equal(last.headers['x-mine'], 'yes')
      assert.deepEqual(last.body, BODIES[wire])
      assert.equal(last.bytes.toString(), JSON.stringify(BODIES[wire]))
      assert.deepEqual(last.conversation.messages, [{ role: 'user', parts: [{ type: 'text', text: 'Go.' }] }])
      assert.deepEqual([last.script, last.position], ['script', 0])
    }
    assert.equal(rehearsal.countRequests(), wireIds.length)
    await rehearsal.close()
  })

  test('no more than is to be kept', async () => {
    const rehearsal = await rehearse([{ say: 'Hi.', repeat: 9 }], { maxRecords: 2 })
    for (let n = 0; n < 5; n++) await ask(rehearsal, 'gemini')
    assert.deepEqual(
      rehearsal.requests.map(({ number }) => number),
      [4, 5],
    )
    await rehearsal.close()
  })
})

describe('addresses', () => {
  test('nothing there, the wrong method, a body that is no JSON', async () => {
    const rehearsal = await rehearse([{ say: 'Hi.' }])
    assert.equal((await post(`${rehearsal.url}/v1/nothing`, {})).status, 404)
    assert.equal((await fetch(`${rehearsal.url}/v1/messages`)).status, 405)
    const { status, text } = await post(`${rehearsal.url}/v1/chat/completions`, '{"model":')
    assert.equal(status, 400)
    assert.match(text, /could not parse the JSON body/)
    await rehearsal.close()
  })

  test('Vertex has Gemini’s answers under its own addresses', async () => {
    const rehearsal = await rehearse([{ say: 'Hi.' }])
    const path = '/v1/projects/p/locations/l/publishers/google/models/script:generateContent'
    assert.match((await post(rehearsal.url + path, BODIES.gemini)).text, /"text":"Hi\."/)
    await rehearsal.close()
  })

  test('closing hangs up on everybody', async () => {
    const rehearsal = await rehearse([{ say: 'Hi.', misbehave: [{ kind: 'stall', at: 'start' }] }])
    const waiting = ask(rehearsal, 'anthropic')
    while (rehearsal.countRequests() === 0) await new Promise((done) => setTimeout(done, 5))
    await rehearsal.close()
    assert.equal((await waiting).turn.finish.fault?.kind, 'transport')
  })
})

test('a request with a tool that the vendor would not take is refused', async () => {
  await withStep({ say: 'Hi.' }, async (rehearsal) => {
    const tools = [...TOOLS, ...TOOLS].map((tool) => ({ type: 'function', function: { name: tool.name } }))
    const { status, text } = await post(`${rehearsal.url}/v1/chat/completions`, { ...BODIES['openai-chat'], tools })
    assert.equal(status, 400)
    assert.match(text, /read_file is not unique/)
  })
})
