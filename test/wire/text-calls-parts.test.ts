import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import type { OutputFormat } from '../../src/model/request.ts'
import { anthropic } from '../../src/wire/anthropic/wire.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import { gemini } from '../../src/wire/gemini/wire.ts'
import { openaiChat } from '../../src/wire/openai-chat/wire.ts'
import type { DecodeContext, Wire } from '../../src/wire/wire.ts'
import { LS, TOOLS } from './written.ts'

const CALL = '<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>'
const OUTPUT: OutputFormat = { name: 'answer', schema: { type: 'array', items: { type: 'object' } } }

interface Decoded {
  readonly calls: readonly string[]
  readonly text: string
  readonly rejected: number
}

function decode(wire: Wire, body: object, changes: Partial<DecodeContext> = {}): Decoded {
  const tools = TOOLS.map((tool) => ({ ...tool, description: '' }))
  const context: DecodeContext = { turnKey: 'k'.repeat(20), profile: wire.profile, tools, ...changes }
  const { turn } = decodeResponse(wire, context, [Buffer.from(JSON.stringify(body))], 'application/json')
  const { calls, rejected } = splitRunnableCalls(turn)
  return {
    calls: calls.map(({ name, input }) => `${name} ${JSON.stringify(input)}`),
    text: turn.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('|'),
    rejected: rejected.length,
  }
}

const chat = (message: object): object => ({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop' }],
})
const blocks = (...content: object[]): object => ({
  type: 'message',
  role: 'assistant',
  content,
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
})
const text = (content: string): object => ({ type: 'text', text: content })

const RUN = [`bash ${LS.raw}`]

describe('calls as text in one of several parts', () => {
  test('count if no text comes after them (T186)', () => {
    assert.deepEqual(decode(anthropic, blocks(text('So.'), text(CALL))), { calls: RUN, text: 'So.', rejected: 0 })
    const cases: [first: string, second: string][] = [
      [CALL, 'is how it is written.'],
      [`So: ${CALL}`, ' Done.'],
    ]
    for (const [first, second] of cases)
      assert.deepEqual(decode(anthropic, blocks(text(first), text(second))), {
        calls: [],
        text: `${first}|${second}`,
        rejected: 0,
      })
    assert.deepEqual(decode(anthropic, blocks(text(CALL), text('\n'))).calls, RUN)
    assert.deepEqual(decode(anthropic, blocks(text(CALL), text(CALL.replace('ls', 'pwd')))).calls.length, 2)
    const parts = [{ text: CALL, thoughtSignature: 'YQ==' }, { text: 'That is an example.' }]
    const response = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] }
    assert.deepEqual(decode(gemini, response).calls, [])
  })

  test('are drafts in the reasoning if there is an answer (T70)', () => {
    const thought = `I could write ${CALL}`
    assert.deepEqual(decode(openaiChat, chat({ reasoning_content: thought, content: 'No need.' })), {
      calls: [],
      text: 'No need.',
      rejected: 0,
    })
    assert.deepEqual(decode(openaiChat, chat({ reasoning_content: thought, content: '\n\n' })).calls, RUN)
    assert.deepEqual(decode(openaiChat, chat({ reasoning_content: thought, content: CALL })).calls, RUN)
  })

  test('are drafts in a thought in the text if anything comes after it, and keep their arguments (T187)', () => {
    const profile = { ...openaiChat.profile, think: true }
    const read = (content: string): readonly string[] => decode(openaiChat, chat({ content }), { profile }).calls
    assert.deepEqual(read(`<think>Hm.\n${CALL}\n</think>\n`), RUN)
    assert.deepEqual(read(`<think>Hm.\n${CALL}\n</think>\n\n${CALL}`), RUN)
    assert.deepEqual(read(`<think>Hm.\n${CALL}\n</think>\n\nNo.`), [])
    assert.deepEqual(read(`<think>Hm.\n${CALL.replace('ls', 'a</think>b')}`), ['bash {"command":"a</think>b"}'])
  })

  test('do not exist in a refusal, or where calls are forbidden (T153)', () => {
    assert.deepEqual(decode(openaiChat, chat({ refusal: CALL })).calls, [])
    assert.deepEqual(decode(openaiChat, chat({ content: CALL }), { toolChoice: 'none' }), {
      calls: [],
      text: CALL,
      rejected: 0,
    })
  })

  test('are content in an answer that should be JSON', () => {
    const bare = '{"name":"bash","arguments":{"command":"ls"}}'
    for (const content of [bare, `[${bare}]`, ` [ ${bare} ]`, JSON.stringify([CALL]), JSON.stringify({ CALL })]) {
      assert.deepEqual(decode(openaiChat, chat({ content }), { output: OUTPUT }), {
        calls: [],
        text: content,
        rejected: 0,
      })
    }
    assert.deepEqual(decode(openaiChat, chat({ content: CALL }), { output: OUTPUT }).calls, RUN)
    assert.deepEqual(
      decode(openaiChat, chat({ content: '[TOOL_CALLS]bash{"command":"ls"}' }), { output: OUTPUT }).calls,
      RUN,
    )
    assert.deepEqual(decode(openaiChat, chat({ content: bare })).calls, RUN)
  })
})
