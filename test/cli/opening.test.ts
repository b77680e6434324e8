import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman, type Ended, stage } from '../support/command.ts'

type Here = Awaited<ReturnType<typeof stage>>

/** What the first request of a run held: the system prompt, and all that was said. */
async function opened(here: Here, args: readonly string[] = [], env: Record<string, string> = {}) {
  const ended = await dragoman(['-p', 'hi', ...args], { ...here, env: { ...here.env, ...env } })
  assert.equal(ended.code, 0, ended.err)
  const sent = here.server.requests.at(-1)?.conversation
  return { system: sent?.system ?? '', said: JSON.stringify(sent?.messages) }
}

describe('the first message', () => {
  test('says where we are: the date, the platform, the folders and what is in them', async () => {
    const here = await stage([{ say: 'Hello.' }])
    mkdirSync(join(here.work, 'lib'))
    writeFileSync(join(here.work, 'lib/heron.ts'), '')
    const { said } = await opened(here, ['--include-directories', here.home])
    assert.ok(said.includes(`Today is ${new Date().toDateString()}. Platform: ${process.platform}`))
    assert.ok(said.includes(here.work) && said.includes(here.home))
    assert.match(said, /Folder structure:\\nlib\/\\n {2}heron\.ts/)
  })

  test('holds the instructions files, the person’s own first, then from the home folder down', async () => {
    const here = await stage([{ say: 'Hello.' }])
    const work = join(here.home, 'code/pond')
    for (const folder of [work, join(here.home, '.config/dragoman')]) mkdirSync(folder, { recursive: true })
    writeFileSync(join(here.home, '.config/dragoman/AGENTS.md'), 'Rule one.')
    writeFileSync(join(here.home, 'AGENTS.md'), 'Rule two.')
    writeFileSync(join(here.home, 'code/GEMINI.md'), 'Rule three.')
    writeFileSync(join(work, 'AGENTS.md'), 'Rule four.')
    writeFileSync(join(work, 'GEMINI.md'), 'Rule five.')
    const { said } = await opened({ ...here, work })
    const order = ['one', 'two', 'three', 'four', 'five'].map((word) => said.indexOf(`Rule ${word}.`))
    assert.ok(
      order.every((at, index) => at > (order[index - 1] ?? -1)),
      said,
    )
  })

  test('outside of the home folder they begin at the repository', async () => {
    const here = await stage([{ say: 'Hello.' }])
    const work = join(here.work, 'repo/deep')
    mkdirSync(work, { recursive: true })
    mkdirSync(join(here.work, 'repo/.git'))
    writeFileSync(join(here.work, 'AGENTS.md'), 'A stranger’s rule.')
    writeFileSync(join(here.work, 'repo/AGENTS.md'), 'The rule of the repository.')
    const { said } = await opened({ ...here, work })
    assert.match(said, /The rule of the repository/)
    assert.doesNotMatch(said, /stranger/)
  })

  test('--all-files takes the text of all files along, but no secrets and nothing that was built', async () => {
    const here = await stage([{ say: 'Hello.' }])
    mkdirSync(join(here.work, 'node_modules'))
    writeFileSync(join(here.work, 'heron.ts'), 'export const legs = 2\n')
    writeFileSync(join(here.work, 'node_modules/x.js'), 'built()\n')
    writeFileSync(join(here.work, '.env'), 'KEY=canary\n')
    assert.doesNotMatch((await opened(here)).said, /legs = 2/)
    const { said } = await opened(here, ['--all-files'])
    assert.match(said, /--- heron\.ts ---\\nexport const legs = 2/)
    assert.doesNotMatch(said, /built\(\)|canary/)
  })
})

describe('the system prompt', () => {
  test('says a word of plans, of tests, and of commands that change something; the first request stays small', async () => {
    const here = await stage([{ say: 'Hello.' }])
    const { system } = await opened(here)
    assert.match(system, /make a short plan/)
    assert.match(system, /one that would fail without the change/)
    assert.match(system, /Before a command that changes something, say in one sentence what it does/)
    assert.ok((here.server.requests[0]?.bytes.length ?? Infinity) < 16_000)
  })

  test('is ours, and can be written to a file to start from', async () => {
    const here = await stage([{ say: 'Hello.' }])
    const { system } = await opened(here, [], { DRAGOMAN_WRITE_SYSTEM_MD: '1' })
    assert.match(system, /You are Dragoman/)
    const path = join(here.work, '.dragoman/system.md')
    assert.equal(readFileSync(path, 'utf8').trim(), system.trim())
    writeFileSync(path, 'You are a heron.')
    assert.equal((await opened(here, [], { DRAGOMAN_SYSTEM_MD: '1' })).system, 'You are a heron.')
    assert.match((await opened(here, [], { DRAGOMAN_SYSTEM_MD: '0' })).system, /You are Dragoman/)
  })

  test('Gemini’s own variables are honoured; ours and --system-file go before them', async () => {
    const here = await stage([{ say: 'Hello.' }])
    const env = { GEMINI_SYSTEM_MD: 'theirs.md', GEMINI_WRITE_SYSTEM_MD: 'written.md' }
    writeFileSync(join(here.work, 'theirs.md'), 'Theirs.')
    writeFileSync(join(here.work, 'ours.md'), 'Ours.')
    writeFileSync(join(here.work, 'named.md'), 'Named.')
    assert.equal((await opened(here, [], env)).system, 'Theirs.')
    assert.match(readFileSync(join(here.work, 'written.md'), 'utf8'), /You are Dragoman/)
    assert.equal((await opened(here, [], { ...env, DRAGOMAN_SYSTEM_MD: 'ours.md' })).system, 'Ours.')
    assert.equal((await opened(here, ['--system-file', 'named.md'], env)).system, 'Named.')
  })

  test('a file that cannot be read or written is one sentence', async () => {
    const here = await stage([{ say: 'Never asked.' }])
    const run = (env: Record<string, string>): Promise<Ended> =>
      dragoman(['-p', 'hi'], { ...here, env: { ...here.env, ...env } })
    const unread = await run({ DRAGOMAN_SYSTEM_MD: 'absent.md' })
    writeFileSync(join(here.work, 'file'), '')
    const unwritten = await run({ DRAGOMAN_WRITE_SYSTEM_MD: 'file/system.md' })
    const off = await run({ DRAGOMAN_WRITE_SYSTEM_MD: '0' })
    for (const { code, err } of [unread, unwritten]) {
      assert.equal(code, 52)
      assert.match(err, /^dragoman: the system prompt .*cannot be (?:read|written).*\n$/)
    }
    assert.equal(off.code, 0)
    assert.equal(existsSync(join(here.work, '0')), false)
  })
})

test('--fork latest@2 branches off from before the second message', async () => {
  const here = await stage([{ say: 'One.' }, { say: 'Two.' }, { say: 'Three.' }])
  for (const word of ['first', 'second', 'third'])
    await dragoman(['-p', word, ...(word === 'first' ? [] : ['--resume'])], here)
  const forked = await dragoman(['-p', 'another second', '--fork', 'latest@2'], here)
  assert.equal(forked.out, 'Two.\n')
  const said = JSON.stringify(here.server.requests.at(-1)?.conversation.messages)
  assert.match(said, /first.*One\..*another second/)
  assert.doesNotMatch(said, /third|"second/)
  const beyond = await dragoman(['-p', 'x', '--fork', 'latest@9'], here)
  assert.deepEqual(
    [beyond.code, beyond.err],
    [42, 'dragoman: the session has no message 9 of yours; the last one is 2\n'],
  )
})
