import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { resumeSession } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { dragoman, stage } from '../support/command.ts'
import { agentOf, closing, modelOn, play, rehearse } from '../support/stage.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { clearAway } from '../support/clear.ts'

const root = mkdtempSync(join(tmpdir(), 'dragoman-media-'))
after(() => clearAway(root))

const PICTURE = Buffer.from(Array.from({ length: 30_000 }, (_, at) => (at * 7) % 253)).toString('base64')
const picture = { kind: 'media', mime: 'image/png', name: 'a.png', data: PICTURE } as const

/** A session with the same picture in what the person said and in a result. */
async function drawn(): Promise<{ folder: string; log: string; blob: () => string }> {
  const folder = mkdtempSync(join(root, 'store-'))
  const log = await jsonlStore(folder).create({ id: 'one', folder: '/' })
  log.append({ kind: 'user', parts: [{ kind: 'text', text: 'look' }, picture], prompt: 'one#1' })
  log.append({
    kind: 'result',
    result: { kind: 'result', id: 'c', name: 'draw', status: 'ok', content: [picture] },
    ms: 1,
  })
  await log.close()
  const blob = () => join(folder, 'blobs', readdirSync(join(folder, 'blobs'))[0] ?? '')
  return { folder, log: join(folder, 'one.jsonl'), blob }
}

describe('media beside the log', () => {
  test('the log names it, and holds nothing of it; the same content is one file', async () => {
    const { folder, log } = await drawn()
    const text = readFileSync(log, 'utf8')
    assert.ok(!text.includes(PICTURE.slice(0, 100)))
    assert.equal(readdirSync(join(folder, 'blobs')).length, 1)
    assert.equal(text.match(/"blob":"[0-9a-f]{64}"/g)?.length, 2)
  })

  for (const [what, damage] of [
    ['missing', (path: string) => rmSync(path)],
    ['cut', (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 100))],
    ['altered', (path: string) => writeFileSync(path, readFileSync(path).fill(0, 5, 6))],
  ] as const) {
    test(`a file that is ${what} becomes a text that says so, and the session opens`, async () => {
      const { folder, blob } = await drawn()
      damage(blob())
      const log = await jsonlStore(folder).open('one')
      const texts = JSON.stringify(resumeSession(log).turns)
      assert.equal(texts.match(/a\.png, image\/png, 30000 bytes: the stored file is missing or damaged/g)?.length, 2)
      // What is said again is kept again.
      log.append({ kind: 'user', parts: [picture], prompt: 'one#2' })
      await log.close()
      assert.ok(JSON.stringify(await jsonlStore(folder).read('one')).includes(PICTURE))
    })
  }

  test('what nobody names goes, but not while somebody writes: a blob comes before the entry that names it', async () => {
    const { folder } = await drawn()
    const store = jsonlStore(folder)
    const stray = await store.putBlob(Buffer.from('nobody names this'))
    const other = await store.create({ id: 'other', folder: '/' })
    await (await store.create({ id: 'third', folder: '/' })).close()
    await store.remove('third')
    assert.ok(await store.getBlob(stray), 'other is open')
    await other.close()
    await store.remove('other')
    assert.equal(await store.getBlob(stray), undefined)
    assert.ok(JSON.stringify(await store.read('one')).includes(PICTURE))
  })
})

test('a picture that a tool gave goes back whole on every wire after a resume', async () => {
  for (const wire of wireIds) {
    const server = await rehearse([{ call: [{ name: 'draw', args: {} }] }, { say: 'Seen.' }, { say: 'Still seen.' }])
    const folder = mkdtempSync(join(root, 'wire-'))
    const draw = tool({
      name: 'draw',
      description: 'Draws.',
      parameters: { type: 'object', properties: {} },
      effects: () => [],
      execute: () => ({ content: [picture] }),
    })
    const first = await jsonlStore(folder).create({ id: 'one', folder: '/' })
    await play(agentOf(modelOn(wire, server), [draw], { session: resumeSession(first) }), 'draw')
    await first.close()
    const again = await jsonlStore(folder).open('one')
    const events = await play(agentOf(modelOn(wire, server), [draw], { session: resumeSession(again) }), 'and now?')
    await again.close()
    assert.equal(closing(events).text, 'Still seen.')
    const sent = server.requests.map(({ bytes }) => bytes.toString())
    assert.ok(sent[1]?.includes(PICTURE), `${wire}: sent`)
    assert.ok(sent[2]?.includes(PICTURE), `${wire}: sent again`)
    assert.deepEqual(server.failures, [])
    await server.close()
  }
})

test('dragoman sessions export and rm know of it', async () => {
  const here = await stage([
    { call: [{ name: 'read_file', args: { absolute_path: '{cwd}/a.png' } }] },
    { say: 'Seen.' },
  ])
  const bytes = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(PICTURE, 'base64')])
  writeFileSync(join(here.work, 'a.png'), bytes)
  assert.equal((await dragoman(['-p', 'look'], here)).code, 0)
  const exported = (await dragoman(['sessions', 'export', 'latest', '--format', 'json'], here)).out
  assert.ok(exported.includes(bytes.toString('base64')))
  const sessions = join(here.home, '.local/share/dragoman/sessions')
  const [project = ''] = readdirSync(sessions)
  assert.equal(readdirSync(join(sessions, project, 'blobs')).length, 1)
  await dragoman(['sessions', 'rm', 'latest'], here)
  assert.equal(readdirSync(join(sessions, project, 'blobs')).length, 0)
})
