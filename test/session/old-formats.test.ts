import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { getSessionsFolder } from '../../src/cli/paths/folders.ts'
import { dragoman, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'

/** Files that version 0.1.0 wrote, before names changed in the source. */
const OLD = join(root, 'test/session/fixtures/0.1.0')
const LOG = readFileSync(join(OLD, 'session.jsonl'), 'utf8')
const [{ session: ID }] = LOG.split('\n', 1).map((line) => JSON.parse(line) as { session: string }) as [
  { session: string },
]

interface Report {
  readonly requests: number
  readonly answers: number
  readonly differences: readonly { readonly in: 'request' | 'answer' }[]
}

type Stage = Awaited<ReturnType<typeof stage>>

/** Puts an old file where this version looks for its own. */
function install(name: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true })
  cpSync(join(OLD, name), target, { recursive: true })
}

function logPath(here: Stage): string {
  return join(getSessionsFolder(here.work, { XDG_DATA_HOME: join(here.home, '.local/share') }), `${ID}.jsonl`)
}

describe('files of version 0.1.0', () => {
  test('a session log is shown, and resumed with all its calls and results', async () => {
    const here = await stage([{ say: '1' }, { say: '2' }, { say: '3' }, { say: 'Going on.' }])
    install('session.jsonl', logPath(here))
    const shown = await dragoman(['sessions', 'show', ID], here)
    assert.equal(shown.code, 0, shown.err)
    assert.match(shown.out, /echo three > c\.txt/)
    const { code, out, err } = await dragoman(['-p', 'go on', '--resume', ID, '--model', 'openai-chat/script'], here)
    assert.equal(code, 0, err)
    assert.match(out, /Going on\./)
    const sent = JSON.stringify(here.server.requests.at(-1)?.body)
    for (const part of ['write_file', 'Successfully created', 'echo three > c.txt', 'Done.', 'go on'])
      assert.ok(sent.includes(part), `the request lacks “${part}”`)
    assert.ok(readFileSync(logPath(here), 'utf8').startsWith(LOG), 'the old lines were changed')
  })

  test('settings mean the same', async () => {
    const here = await stage([])
    install('config.json', join(here.home, '.config/dragoman/config.json'))
    for (const [call, verdict] of [
      ['npm test', 'allow'],
      ['replace(a.ts)', 'allow'],
      ['write_file(src/a.ts)', 'allow'],
      ['write_file(a.ts)', 'ask'],
      ['web_fetch(docs.example.com)', 'allow'],
      ['git commit', 'ask'],
      ['curl example.com', 'deny'],
      ['git push -f', 'deny'],
      ['read_file(my.token)', 'ask'],
    ] as const) {
      const { code, out, err } = await dragoman(['policy', 'explain', '--json', call], here)
      assert.equal(code, 0, err)
      assert.equal((JSON.parse(out) as { verdict: string }).verdict, verdict, call)
    }
    const { code, err } = await dragoman(['-p', 'hello', '--model', 'mine/x'], here)
    assert.equal(code, 1)
    assert.match(err, /127\.0\.0\.1:9/)
  })

  test('a recording is replayed: every response is decoded as before', async () => {
    const here = await stage([])
    install('recording', join(here.work, 'recording'))
    const { out, err } = await dragoman(['replay', 'recording', '--json'], here)
    assert.equal(err, '')
    const { requests, answers, differences } = JSON.parse(out) as Report
    assert.deepEqual([requests, answers], [3, 3])
    // The system prompt and the tools may change from version to version; how a response is read may not.
    const unexpected = differences.filter((difference) => difference.in === 'answer')
    assert.deepEqual(unexpected, [])
  })
})
