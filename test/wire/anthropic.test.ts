import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isObject } from '../../src/model/json.ts'
import { anthropic } from '../../src/wire/anthropic/wire.ts'
import { fromPlainConversation } from '../../src/wire/plain-conversation/from-plain.ts'
import { toPlainConversation } from '../../src/wire/plain-conversation/to-plain.ts'
import type { Wire } from '../../src/wire/wire.ts'
import { atLengths, bytewise, checkRecording, decodeRecording } from '../support/check-recording.ts'
import { recordings, toCorpusConversation } from '../support/corpus.ts'
import { skipWithoutShared } from '../support/paths.ts'

const wire = anthropic as Wire

/** Recordings whose expectation we do not meet on purpose. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'anthropic/copied--rubyllm_chat_anthropic_protocol_lms_openai_gpt_oss_20b_can_use_tools-0.json':
    'the client offered a tool with an empty name; a call that names no tool is rejected, not run (T08)',
}

/** Requests that we would not send as they were recorded. */
const REWRITTEN: Readonly<Record<string, string>> = {
  'anthropic/copied--rubyllm_chat_anthropic_protocol_lms_openai_gpt_oss_20b_can_use_tools-1.json':
    'a call without a name is not repeated (T08)',
}

describe('the corpus on the anthropic wire', { skip: skipWithoutShared }, () => {
  for (const recording of recordings('anthropic')) {
    test(recording.file, () => {
      const whole = decodeRecording(wire, recording)
      if (EXCEPTIONS[recording.file]) assert.throws(() => checkRecording(recording, whole))
      else checkRecording(recording, whole)
      const { usage } = recording.expect
      if (usage) {
        const ours = whole.turn.usage
        assert.equal(ours?.input, usage['input'], 'input tokens')
        assert.equal(ours?.cacheWrite, usage['cacheWrite'] ?? 0, 'tokens written to the cache')
        assert.equal((ours?.output ?? 0) + (ours?.reasoning ?? 0), usage['output'], 'output tokens')
        assert.equal(ours?.reasoning, usage['reasoning'] ?? 0, 'thinking tokens')
      }
      assert.deepEqual(decodeRecording(wire, recording, bytewise), whole, 'byte by byte')
      const lengths = recording.response.chunkBytes
      if (lengths) {
        assert.deepEqual(
          decodeRecording(wire, recording, (all) => atLengths(all, lengths)),
          whole,
          'as it came',
        )
      }
    })
  }
})

describe('recorded requests on the anthropic wire', { skip: skipWithoutShared }, () => {
  for (const { file, request, model } of recordings('anthropic')) {
    const { conversation, body } = request ?? {}
    if (!conversation) continue
    test(`${file} is read`, () => {
      assert.deepEqual(toCorpusConversation(toPlainConversation(wire.readRequest(body).request)), conversation)
    })
    if (REWRITTEN[file]) continue
    test(`${file} is written again`, () => {
      const { body: ours } = wire.encodeRequest(fromPlainConversation(conversation, { model }).request, wire.profile)
      assert.deepEqual(outline(ours['messages']), outline(body?.['messages']))
    })
  }
})

/** What a list of messages says, in order, whatever its form. The nudges that we put between answers do not count. */
function outline(messages: unknown): unknown[] {
  return list(messages).flatMap((message) => {
    const content =
      typeof message['content'] === 'string' ? [{ type: 'text', text: message['content'] }] : message['content']
    return list(content).flatMap((block): unknown[] => {
      if (block['type'] === 'thinking' || block['text'] === '(continue)') return []
      if (block['type'] === 'text') return [{ role: message['role'], text: block['text'] }]
      if (block['type'] === 'tool_use') return [{ call: block['name'], id: block['id'], input: block['input'] }]
      const said =
        typeof block['content'] === 'string'
          ? block['content']
          : list(block['content'])
              .map((one) => one['text'])
              .join('\n')
      return [{ result: block['tool_use_id'], said, failed: block['is_error'] ?? false }]
    })
  })
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
