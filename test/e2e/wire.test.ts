import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { answers } from '../provider/support/answers.ts'
import { dragoman, stage } from '../support/command.ts'

const ANSWER = answers['openai-chat'].call('get_weather', { city: 'Oslo' }).events.join('')

const CONVERSATION = { messages: [{ role: 'user', parts: [{ type: 'text', text: 'How is the weather?' }] }] }

interface Decoded {
  readonly id: string
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[]
}

describe('dragoman wire', () => {
  test('decode: the same answer, the same words, also the ids of its calls', async () => {
    const here = await stage([])
    const args = ['wire', 'decode', '--wire', 'openai-chat']
    const [one, two] = await Promise.all([1, 2].map(() => dragoman(args, here, { input: ANSWER })))
    assert.equal(one?.code, 0, one?.err)
    assert.equal(one?.out, two?.out)
    const [call] = (JSON.parse(one?.out ?? '') as Decoded).calls
    assert.deepEqual([call?.name, call?.input], ['get_weather', { city: 'Oslo' }])
    const other = await dragoman(args, here, { input: ANSWER.replace('Oslo', 'Lima') })
    assert.notEqual((JSON.parse(other.out) as Decoded).calls[0]?.id, call?.id, 'another answer has others')
  })

  test('encode and read: there and back', async () => {
    const here = await stage([])
    for (const wire of ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'interactions', 'code-assist']) {
      const body = await dragoman(['wire', 'encode', '--wire', wire], here, { input: JSON.stringify(CONVERSATION) })
      assert.equal(body.code, 0, body.err)
      const back = await dragoman(['wire', 'read', '--wire', wire], here, { input: body.out })
      assert.match(back.out, /How is the weather\?/)
    }
  })

  test('--batch: every recording of a folder; what is none is named, and a folder without any is a mistake', async () => {
    const here = await stage([])
    const folder = join(here.work, 'tapes')
    mkdirSync(join(folder, 'deep'), { recursive: true })
    const none = await dragoman(['wire', 'decode', '--batch', 'tapes'], here)
    assert.deepEqual([none.code, none.out], [42, ''])
    assert.match(none.err, /^dragoman: tapes has no recording with a response; .*\n$/)

    const recording = { id: 'a', wire: 'openai-chat', request: { conversation: CONVERSATION } }
    const response = { status: 200, contentType: 'text/event-stream', body: ANSWER }
    writeFileSync(join(folder, 'a.json'), JSON.stringify({ ...recording, response }))
    writeFileSync(join(folder, 'deep/b.json'), JSON.stringify({ ...recording, id: 'b' }))
    writeFileSync(join(folder, 'other.json'), '{"name":"x"}')
    writeFileSync(join(folder, 'torn.json'), '{"id":')
    const decoded = await dragoman(['wire', 'decode', '--batch', 'tapes'], here)
    assert.equal(decoded.code, 0, decoded.err)
    assert.deepEqual(ids(decoded.out), ['a'])
    assert.match(decoded.err, /^dragoman: skipped files without a response: b\.json, other\.json, torn\.json\n$/)
    const encoded = await dragoman(['wire', 'encode', '--wire', 'gemini', '--batch', 'tapes'], here)
    assert.deepEqual(ids(encoded.out), ['a', 'b'])
    assert.match(encoded.err, /without a conversation: other\.json, torn\.json\n$/)
  })
})

function ids(lines: string): string[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as Decoded).id)
}
