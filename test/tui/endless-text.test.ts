import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type LiveConversation,
  takeBlocksForScrollback,
  EMPTY_LIVE_CONVERSATION,
  applyRunEvent,
} from '../../src/cli/tui/conversation-state.ts'

test('of a paragraph that never ends, only the last lines stay live; nothing of it is lost', () => {
  const turn = (event: Parameters<typeof applyRunEvent>[1] & { type: 'turn' }) => event
  let conversation: LiveConversation = applyRunEvent(
    EMPTY_LIVE_CONVERSATION,
    turn({ type: 'turn', event: { type: 'part-open', index: 0, kind: 'text' } }),
    0,
  )
  let above = ''
  let most = 0
  let said = ''
  for (let n = 0; n < 2000; n++) {
    const text = `line ${n} of a long stream, with some words in it\n`
    said += text
    conversation = applyRunEvent(
      conversation,
      { type: 'turn', event: { type: 'part-delta', index: 0, kind: 'text', text } },
      0,
    )
    const { final, rest } = takeBlocksForScrollback(conversation)
    conversation = rest
    for (const block of final) if (block.kind === 'text') above += block.text
    for (const block of rest.live) if (block.kind === 'text') most = Math.max(most, block.text.length)
  }
  const [live] = conversation.live
  assert.equal(above + (live?.kind === 'text' ? live.text : ''), said)
  assert.ok(most < 10_000, `${most} characters are live`)
})
