import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { ContentBlock } from '@agentclientprotocol/sdk'
import { stage } from '../support/command.ts'
import { openEditor } from './support/editor.ts'

const LIMIT = { timeout: 300_000 }
/** One pixel, and the start of a sound. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const WAV = Buffer.from('RIFF\x24\0\0\0WAVEfmt ').toString('base64')

test(
  'images, sounds, links and embedded files reach the model, and come back when the session is loaded',
  LIMIT,
  async () => {
    const place = await stage([{ say: 'Seen.' }])
    const path = join(place.work, 'a b.txt')
    const uri = pathToFileURL(path).href
    const editor = await openEditor(place)
    const { sessionId } = await editor.newSession()
    const prompt: ContentBlock[] = [
      { type: 'text', text: 'Look at ' },
      { type: 'resource_link', uri, name: 'a b.txt' },
      { type: 'text', text: ' and ' },
      { type: 'resource', resource: { uri: 'zed:///agent/rules', text: 'Only tabs.', mimeType: 'text/plain' } },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      { type: 'audio', data: WAV, mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///dot.png', blob: PNG, mimeType: 'image/png' } },
    ]
    assert.equal((await editor.agent.request('session/prompt', { sessionId, prompt })).stopReason, 'end_turn')
    const sent = JSON.stringify(place.server.requests.at(-1)?.body)
    assert.ok(sent.includes(`Look at ${path} and zed:///agent/rules`), sent)
    assert.match(sent, /Only tabs\./)
    assert.equal(sent.split(`data:image/png;base64,${PNG}`).length - 1, 2, 'both images')
    assert.ok(sent.includes(WAV), 'the sound')
    assert.equal(editor.updatesOf('session_info_update')[0]?.title?.startsWith('Look at '), true)
    await editor.agent.request('session/close', { sessionId })
    await editor.agent.request('session/load', { sessionId, cwd: place.work, mcpServers: [] })
    const shown = editor.updatesOf('user_message_chunk').map(({ content }) => content)
    assert.deepEqual(
      shown.map(({ type }) => type),
      ['text', 'resource', 'image', 'audio', 'image'],
    )
    assert.ok(shown[1]?.type === 'resource' && shown[1].resource.uri === 'zed:///agent/rules')
    await editor.close()
  },
)

test('a prompt of images only is a prompt; one without content that is known is refused', LIMIT, async () => {
  const place = await stage([{ say: 'Seen.' }])
  const editor = await openEditor(place)
  const { sessionId } = await editor.newSession()
  const send = (prompt: ContentBlock[]) => editor.agent.request('session/prompt', { sessionId, prompt })
  const image: ContentBlock = { type: 'image', data: PNG, mimeType: 'image/png' }
  assert.equal((await send([image])).stopReason, 'end_turn')
  await assert.rejects(send([]), { code: -32602 })
  await assert.rejects(send([{ type: 'text', text: ' \n' }]), { code: -32602 })
  assert.equal(place.server.requests.length, 1)
  await editor.close()
})

test('additional folders of the editor are part of the workspace', LIMIT, async () => {
  const place = await stage([
    { call: [{ name: 'read_file', args: { absolute_path: '{home}/other/b.txt' } }] },
    { expect: { results: 'from the other folder' }, say: 'Read.' },
  ])
  const other = join(place.home, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'b.txt'), 'from the other folder\n')
  const editor = await openEditor(place)
  const open = (additionalDirectories: string[]) =>
    editor.agent.request('session/new', { cwd: place.work, mcpServers: [], additionalDirectories })
  await assert.rejects(open(['relative']), { code: -32602 })
  const { sessionId } = await open([other])
  assert.equal(await editor.prompt(sessionId, 'Read it.'), 'end_turn')
  assert.match(editor.text(), /Read\./)
  assert.deepEqual(editor.questions, [])
  await editor.close()
})
