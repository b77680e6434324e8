import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { getSessionsFolder } from '../../src/cli/paths/folders.ts'
import type { WireId } from '../../src/model/turn.ts'
import type { RecordedRequest } from '../../src/rehearsal/request/recorded-request.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import { dragoman, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'

const ROWS: Record<WireId, string> = {
  gemini: 'gemini',
  interactions: 'gemini-interactions',
  'code-assist': 'code-assist',
  'openai-chat': 'openai-chat',
  'openai-responses': 'openai',
  anthropic: 'anthropic',
}

/** What each request of a session must hold, whatever was summarised. */
const STANDING = ['RULE-OF-AGENTS', 'RULE-OF-GEMINI', 'FACT-REMEMBERED', 'Today is ', 'Feed the heron first']

for (const wire of Object.keys(ROWS) as WireId[]) {
  describe(`compaction keeps what is stated: ${wire}`, () => {
    test('instructions, memories, date, folders and the words of servers, after a compaction and after a resume', async () => {
      const here = await world(wire)
      await here.say('begin', 'BIG '.repeat(2000))
      await here.say('go on', 'SECOND')
      await here.say('and on', 'THIRD')
      await here.say('BIG '.repeat(3000), 'fourth')
      await here.say('the last', 'FIFTH')
      const asked = here.server.requests.filter((one) => !isSummary(one))
      assert.equal(here.server.requests.length - asked.length >= 2, true, 'it was summarised at least twice')
      const all = asked.map(textOf)
      assert.ok(!all[1]?.includes('BIG BIG'), 'the second request has a summary in its place')
      for (const [at, text] of all.entries()) {
        for (const word of [...STANDING, here.work]) assert.ok(text.includes(word), `request ${at + 1} lost ${word}`)
        assert.equal(text.split('RULE-OF-AGENTS').length - 1, 1, `request ${at + 1} says it once`)
      }
      assert.ok(all.at(-1)?.includes('A summary of it'))
      // Between two compactions each request goes on from the one before, though each is a process of its own.
      assert.ok(startsWith(messagesOf(asked[2]), messagesOf(asked[1])), 'the third goes on from the second')
      assert.deepEqual(here.server.failures, [])
    })

    test('a memory and instructions that changed since are stated as they are at the compaction', async () => {
      const here = await world(wire)
      await here.say('begin', 'BIG '.repeat(2000))
      writeFileSync(join(here.work, 'AGENTS.md'), 'RULE-CHANGED')
      await here.say('go on')
      const last = textOf(here.server.requests.at(-1))
      assert.ok(last.includes('RULE-CHANGED'))
      assert.ok(!last.includes('RULE-OF-AGENTS'))
    })

    test('a session that an earlier version compacted states its environment again', async () => {
      const here = await world(wire)
      await here.say('begin')
      const sessions = here.sessions()
      const log = await jsonlStore(sessions).create({ id: 'earlier', folder: here.work })
      const said = (text: string) =>
        log.append({ kind: 'user', parts: [{ kind: 'text', text }], prompt: 'earlier#1' }).seq
      const answer = () =>
        log.append({
          kind: 'turn',
          turn: {
            role: 'assistant',
            origin: { provider: ROWS[wire], wire, model: 'script' },
            parts: [{ kind: 'text', text: 'Yes.' }],
            finish: { reason: 'stop' },
          },
          prompt: 'earlier#1',
          ms: 1,
        })
      log.append({ kind: 'note', text: 'Today is long ago.' })
      said('first')
      answer()
      const keep = said('second')
      log.append({ kind: 'compact', summary: 'A summary of it', keep, before: 100, after: 10 })
      answer()
      await log.close()
      await here.run(['--resume', 'earlier', '-p', 'third'])
      await here.run(['--resume', 'earlier', '-p', 'fourth'])
      const [third, fourth] = here.server.requests.slice(-2)
      for (const word of STANDING) assert.ok(textOf(third).includes(word), `it lost ${word}`)
      assert.equal(textOf(fourth).split('RULE-OF-AGENTS').length - 1, 1, 'it is said once')
      assert.ok(startsWith(messagesOf(fourth), messagesOf(third)))
      assert.deepEqual(here.server.failures, [])
    })
  })
}

/** A project with instructions, a memory, and a server that says how its tools are used; a window that is soon full. */
async function world(wire: WireId) {
  const row = ROWS[wire]
  const { server, work, home, env } = await stage({
    steps: [
      { when: { user: 'about to be replaced' }, say: 'A summary of it.' },
      { say: 'One.', usage: { input: 5500, output: 10 } },
      { loop: [{ say: 'More.', usage: { input: 100, output: 10 } }] },
    ],
  })
  const config = join(home, '.config/dragoman')
  mkdirSync(config, { recursive: true })
  writeFileSync(join(work, 'AGENTS.md'), 'RULE-OF-AGENTS')
  writeFileSync(join(work, 'GEMINI.md'), 'RULE-OF-GEMINI')
  writeFileSync(join(config, 'GEMINI.md'), '## Gemini Added Memories\n- FACT-REMEMBERED')
  const pond = { command: process.execPath, args: [join(root, 'test/mcp/support/fixture-server.mjs'), 'advises'] }
  writeFileSync(
    join(config, 'config.json'),
    JSON.stringify({ catalog: { [`${row}/script`]: { window: 6000 } }, mcpServers: { pond }, sandbox: 'off' }),
  )
  const all: Record<string, string> = {
    ...env,
    GEMINI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
    GOOGLE_CLOUD_PROJECT: 'p',
    CODE_ASSIST_ACCESS_TOKEN: 'k',
    GOOGLE_CLOUD_ACCESS_TOKEN: 'k',
    DRAGOMAN_GEMINI_BASE_URL: `${server.url}/v1beta`,
    DRAGOMAN_GEMINI_INTERACTIONS_BASE_URL: `${server.url}/v1beta`,
    DRAGOMAN_CODE_ASSIST_BASE_URL: server.url,
    DRAGOMAN_OPENAI_BASE_URL: `${server.url}/v1`,
    DRAGOMAN_ANTHROPIC_BASE_URL: `${server.url}/v1`,
    DRAGOMAN_MODEL: `${row}/script`,
  }
  let begun = false
  const run = async (args: string[]) => {
    const ended = await dragoman(args, { work, env: all })
    assert.equal(ended.code, 0, ended.err)
  }
  // What the server says is known from here on, whether or not it is there in time.
  await run(['mcp', 'test', 'pond'])
  return {
    server,
    work,
    run,
    /** Says something, in a process of its own each time. */
    async say(...words: string[]) {
      await run([...(begun ? ['--resume'] : []), '-p', words.join(' ')])
      begun = true
    },
    sessions: () => getSessionsFolder(work, { XDG_DATA_HOME: join(home, '.local/share') }),
  }
}

function isSummary(request: RecordedRequest): boolean {
  return textOf(request).includes('about to be replaced by a summary')
}

function messagesOf(request: RecordedRequest | undefined): readonly string[] {
  return (request?.conversation.messages ?? []).map((message) => JSON.stringify(message))
}

function startsWith(longer: readonly string[], shorter: readonly string[]): boolean {
  return shorter.length > 0 && shorter.every((one, at) => one === longer[at])
}

/** What a request says, as the bytes on the wire have it. */
function textOf(request: RecordedRequest | undefined): string {
  return request?.bytes.toString('utf8') ?? ''
}
