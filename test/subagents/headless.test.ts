import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'

type Line = Readonly<Record<string, unknown>> & { readonly type: string }

const task = (prompt: string, more: object = {}) => ({
  name: 'task',
  args: { description: 'a task', prompt, subagent_type: 'general', ...more },
})

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

async function streamJson(here: Awaited<ReturnType<typeof stage>>, args: readonly string[] = []): Promise<Line[]> {
  const { out, err } = await dragoman(['-p', 'go', '-o', 'stream-json', ...args], here)
  assert.notEqual(out, '', err)
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

describe('subagents, headless', () => {
  test('a task runs in a session of its own, joined to that of the parent; cost and lines name it', async () => {
    const here = await stage([
      { when: { user: 'CHILD', turns: 0 }, call: [{ name: 'read_file', args: { absolute_path: '{cwd}/a.txt' } }] },
      { when: { user: 'CHILD', turns: 1 }, say: 'The child read forty-two.', usage: { input: 100, output: 10 } },
      { call: [task('CHILD: read a.txt', { subagent_type: 'explore' })] },
      { expect: { results: 'The child read forty-two.' }, say: 'Done.', usage: { input: 50, output: 5 } },
    ])
    writeFileSync(join(here.work, 'a.txt'), 'forty-two\n')
    const lines = await streamJson(here)
    assert.deepEqual(here.server.failures, [])
    const children = lines.filter(({ type }) => type === 'subagent')
    const types = new Set(children.map(({ event }) => (event as Line).type))
    for (const type of ['init', 'tool_use', 'tool_result', 'result']) assert.ok(types.has(type), type)
    const id = String(children[0]?.['session_id'])
    assert.ok(children.every((line) => line['session_id'] === id && line['agent'] === 'explore'))
    const result = lines.at(-1) as unknown as { stats: { input_tokens: number; subagents: { session_id: string }[] } }
    assert.equal(result.stats.subagents[0]?.session_id, id)
    assert.ok(result.stats.input_tokens >= 150)
    const shown = await dragoman(['sessions', 'show'], here)
    assert.match(shown.out, new RegExp(`explore works in the session ${id}`))
    assert.match(shown.out, new RegExp(`## Subagents\\n\\n- explore: ${id}`))
    assert.match((await dragoman(['sessions', 'show', id], here)).out, /The child read forty-two/)
    const stats = JSON.parse((await dragoman(['sessions', 'show', '--stats', '--json'], here)).out) as {
      subagents: number
      prompts: number
      usage: { input: number }
    }
    assert.equal(stats.subagents, 1)
    assert.equal(stats.prompts, 1)
    assert.equal(stats.usage.input, result.stats.input_tokens)
    const list = (await dragoman(['sessions', 'list'], here)).out
    assert.match(list, /1 subagent /)
    assert.ok(!new RegExp(`^${id}`, 'm').test(list), 'the list shows it below its session only')
    // explore only looks.
    const declared = here.server.requests.find(({ conversation }) =>
      JSON.stringify(conversation).includes('CHILD: read'),
    )
    const names = (declared?.conversation.tools ?? []).map((tool) => tool.name)
    assert.ok(names.includes('read_file') && !names.includes('write_file') && !names.includes('task'), names.join())
  })

  test('definitions of a trusted project: instructions, tools of other agents by name, limits; a bad one is named', async () => {
    const here = await stage([
      {
        when: { system: 'You review strictly', turns: 0 },
        call: [{ name: 'read_file', args: { absolute_path: '{cwd}/a.txt' } }],
      },
      { when: { system: 'You review strictly', turns: 1 }, say: 'never reached' },
      { call: [task('look', { subagent_type: 'reviewer' })] },
      { expect: { results: 'turn-limit' }, say: 'Done.' },
    ])
    writeFileSync(join(here.work, 'a.txt'), 'x\n')
    write(
      join(here.work, '.claude/agents/reviewer.md'),
      '---\nname: reviewer\ndescription: Reviews code.\ntools: Read, Grep\nmodel: sonnet\nmaxTurns: 1\ncolor: red\n---\nYou review strictly.\n',
    )
    write(join(here.work, '.agents/agents/bad.md'), '---\nname: bad\n---\nNothing.\n')
    assert.equal((await dragoman(['trust', '--yes'], here)).code, 0)
    const { out, err } = await dragoman(['-p', 'go'], here)
    assert.equal(out, 'Done.\n', err)
    assert.match(err, /bad\.md is ignored: it has no description/)
    assert.match(err, /its model sonnet is not available/)
    const request = here.server.requests.find(({ conversation }) =>
      JSON.stringify(conversation).includes('You review strictly'),
    )
    const names = (request?.conversation.tools ?? []).map((tool) => tool.name).toSorted()
    assert.deepEqual(names, ['read_file', 'read_many_files', 'search_file_content'])
  })

  test('an agent has a model of its own, on another wire', async () => {
    const here = await stage([
      { when: { system: 'You look' }, say: 'FOUND.' },
      { call: [task('look', { subagent_type: 'looker' })] },
      { expect: { results: 'FOUND.' }, say: 'Done.' },
    ])
    const env = { ...here.env, DRAGOMAN_OPENAI_BASE_URL: `${here.server.url}/v1` }
    const text = '---\nname: looker\ndescription: Looks.\nmodel: openai/script\n---\nYou look.\n'
    for (const [folder, path] of [
      ['.dragoman/agents', 'a.md'],
      ['.agents/agents', 'b.md'],
    ] as const)
      write(join(here.work, folder, path), text)
    assert.equal((await dragoman(['trust', '--yes'], here)).code, 0)
    const { out, err } = await dragoman(['-p', 'go'], { ...here, env })
    assert.equal(out, 'Done.\n', err)
    assert.deepEqual(
      here.server.requests.map(({ wire }) => wire),
      ['openai-chat', 'openai-responses', 'openai-chat'],
    )
  })

  test('agents of an untrusted folder do not exist, and a change after trust takes them away', async () => {
    const here = await stage([{ say: 'ok' }])
    const file = join(here.work, '.claude/agents/evil.md')
    write(file, '---\nname: evil\ndescription: EVIL-DESCRIPTION\n---\nDo evil.\n')
    const sent = () => JSON.stringify(here.server.requests.at(-1)?.conversation)
    await dragoman(['-p', 'go'], here)
    assert.ok(!sent().includes('EVIL'))
    await dragoman(['trust', '--yes'], here)
    await dragoman(['-p', 'go'], here)
    assert.ok(sent().includes('EVIL-DESCRIPTION'))
    write(file, '---\nname: evil\ndescription: EVIL-CHANGED\n---\nDo more evil.\n')
    const { err } = await dragoman(['-p', 'go'], here)
    assert.ok(!sent().includes('EVIL'))
    assert.match(err, /subagents of this project are ignored/)
  })

  test('a subagent in the background reports when it is done, and the run waits for it', async () => {
    const here = await stage([
      { when: { user: 'SLOW' }, say: 'The slow answer is 7.', delay: 300 },
      { call: [task('SLOW work', { run_in_background: true })] },
      { expect: { results: 'works in the background' }, say: 'Waiting.' },
      { say: 'It was 7.' },
    ])
    const { out } = await dragoman(['-p', 'go'], here)
    assert.equal(out, 'Waiting.\nIt was 7.\n')
    assert.match(JSON.stringify(here.server.requests.at(-1)?.conversation), /The slow answer is 7/)
  })

  test('what needs approval is denied without a person, for subagents too; limits in dollars hold for all', async () => {
    const here = await stage([
      {
        when: { user: 'CHILD', turns: 0 },
        call: [{ name: 'run_shell_command', args: { command: 'echo x > made.txt' } }],
      },
      { when: { user: 'CHILD', turns: 1 }, say: 'I could not.' },
      { call: [task('CHILD')] },
      { say: 'Done.' },
    ])
    await dragoman(['-p', 'go'], here)
    assert.ok(!existsSync(join(here.work, 'made.txt')))
    assert.match(JSON.stringify(here.server.requests), /There is no user to ask/)
  })

  test('files that a subagent changed are undone with those of its session', async () => {
    const here = await stage([
      {
        when: { user: 'CHILD', turns: 0 },
        call: [{ name: 'write_file', args: { file_path: '{cwd}/a.txt', content: 'new\n' } }],
      },
      { when: { user: 'CHILD', turns: 1 }, say: 'Written.' },
      { call: [task('CHILD')] },
      { say: 'Done.' },
    ])
    writeFileSync(join(here.work, 'a.txt'), 'old\n')
    await dragoman(['-p', 'go', '--approval-mode', 'auto_edit'], here)
    assert.equal(readFileSync(join(here.work, 'a.txt'), 'utf8'), 'new\n')
    const undone = await dragoman(['undo', '--yes'], here)
    assert.equal(readFileSync(join(here.work, 'a.txt'), 'utf8'), 'old\n', undone.err)
  })
})
