import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'

type Here = Awaited<ReturnType<typeof stage>>

function write(path: string, json: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof json === 'string' ? json : JSON.stringify(json))
}

const own = (here: Here, json: unknown) => write(join(here.home, '.config/dragoman/config.json'), json)
const projects = (here: Here, json: unknown) => write(join(here.work, '.dragoman/config.json'), json)
const without = ({ env, work }: Here, ...names: string[]) => ({
  work,
  env: Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name))),
})

describe('settings', () => {
  test('a row and a model of one’s own are used', async () => {
    const here = await stage([{ say: 'Hello.' }])
    const url = here.env['DRAGOMAN_OPENAI_CHAT_BASE_URL']
    own(here, { model: 'mine/script', providers: { mine: { url, keys: ['MY_KEY'] } } })
    const { out, code } = await dragoman(['-p', 'hi'], {
      work: here.work,
      env: { PATH: here.env['PATH'] ?? '', HOME: here.home, MY_KEY: 'k9' },
    })
    assert.equal(out, 'Hello.\n')
    assert.equal(code, 0)
    assert.equal(here.server.requests[0]?.headers['authorization'], 'Bearer k9')
  })

  const WRONG: readonly (readonly [name: string, json: unknown, says: RegExp])[] = [
    ['no JSON', '{"model":', /config\.json is not valid JSON/],
    ['an unknown key', { modle: 'x/y' }, /"modle" is not a known key; did you mean "model"\?/],
    ['an unknown key further in', { mcpServers: { a: { comand: 'x' } } }, /"mcpServers\.a\.comand".*"command"/],
    ['a value that is not one of the list', { approvalMode: 'yollo' }, /"approvalMode" must be one of/],
    ['a row without an address', { providers: { mine: {} } }, /provider "mine" needs a "url"/],
    ['a list', [], /the settings must be a JSON object/],
  ]
  for (const [name, json, says] of WRONG) {
    test(`${name} is one sentence and exit 52`, async () => {
      const here = await stage([{ say: 'Never asked.' }])
      own(here, json)
      const { code, out, err } = await dragoman(['-p', 'hi'], here)
      assert.equal(code, 52)
      assert.match(err, says)
      assert.equal(err.trim().split('\n').length, 1)
      assert.equal(out, '')
      assert.equal(here.server.requests.length, 0)
    })
  }

  test('a project’s settings are passed over until the folder is trusted, and again when they change', async () => {
    const here = await stage([{ say: 'One.' }])
    const { env, work } = without(here, 'DRAGOMAN_MODEL')
    const at = { work, env: { ...env, OPENAI_API_KEY: '' } }
    projects(here, { model: 'openai-chat/script' })
    const stranger = await dragoman(['-p', 'hi', '-m', 'openai-chat/script'], at)
    assert.equal(stranger.out, 'One.\n')
    assert.match(stranger.err, /not trusted/)
    assert.match((await dragoman(['trust'], at)).out, /not trusted yet[^]*"openai-chat\/script"/)
    await dragoman(['trust', '--yes'], at)
    const trusted = await dragoman(['-p', 'hi'], at)
    assert.equal(trusted.out, 'One.\n')
    assert.doesNotMatch(trusted.err, /not trusted/)
    projects(here, { model: 'openai-chat/script', approvalMode: 'yolo' })
    const changed = await dragoman(['-p', 'hi', '-m', 'openai-chat/script'], at)
    assert.match(changed.err, /not trusted/)
    assert.match((await dragoman(['config', 'path'], at)).out, /this folder: changed/)
  })

  test('an untrusted project can tighten, and nothing else', async () => {
    const here = await stage([{ say: 'x' }])
    projects(here, { policy: { deny: ['run_shell_command'], allow: ['write_file'] }, approvalMode: 'yolo' })
    const shown = JSON.parse((await dragoman(['config'], here)).out) as { config: unknown; policies: unknown }
    assert.deepEqual(shown.config, {})
    assert.deepEqual(shown.policies, { project: { deny: ['run_shell_command'] } })
  })

  test('a word that is nearly a command is not taken for a prompt', async () => {
    const here = await stage([{ say: 'x' }])
    const { code, err } = await dragoman(['sesions'], here)
    assert.equal(code, 42)
    assert.match(err, /did you mean sessions/)
    assert.equal(here.server.requests.length, 0)
  })
})
