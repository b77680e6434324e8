import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { WireId } from '../../src/model/turn.ts'
import { dragoman, stage } from '../support/command.ts'
import {
  writeClaudeRepository,
  writeCodexRepository,
  writeFiles,
  writeGeminiRepository,
} from '../support/foreign-repositories.ts'

const ROWS: Partial<Record<WireId, string>> = {
  gemini: 'gemini',
  interactions: 'gemini-interactions',
  'openai-chat': 'openai-chat',
  'openai-responses': 'openai',
  anthropic: 'anthropic',
}

const REPOSITORIES = {
  claude: {
    write: writeClaudeRepository,
    command: '/git:commit fix "two words"',
    skills: '.claude/skills',
    shellName: 'Bash',
  },
  gemini: {
    write: writeGeminiRepository,
    command: '/git:commit fix "two words"',
    skills: '.gemini/skills',
    shellName: 'run_shell_command',
  },
  codex: {
    write: writeCodexRepository,
    command: '/git-commit fix "two words"',
    skills: '.agents/skills',
    shellName: 'Bash',
  },
} as const

/** A model that uses the skill, runs its script, asks a subagent, and reads in a folder with instructions of its own. */
const SCRIPT = [
  { when: { user: 'CHECK-THIS' }, say: 'CHECKED.' },
  { call: [{ name: 'activate_skill', args: { name: 'release' } }] },
  { call: [{ name: 'run_shell_command', args: { command: 'sh {skills}/release/scripts/number.sh' } }] },
  {
    call: [{ name: 'task', args: { description: 'a check', prompt: 'CHECK-THIS please', subagent_type: 'checker' } }],
  },
  { call: [{ name: 'read_file', args: { absolute_path: '{cwd}/src/deep/a.txt' } }] },
  { loop: [{ say: 'Done.' }] },
]

async function open(kind: keyof typeof REPOSITORIES, row = 'openai-chat') {
  const { write, skills } = REPOSITORIES[kind]
  const here = await stage({ steps: SCRIPT, start: 'prompt' }, { skills })
  write(here.work, here.home)
  const { url } = here.server
  const env: Record<string, string> = {
    ...here.env,
    GEMINI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
    DRAGOMAN_GEMINI_BASE_URL: `${url}/v1beta`,
    DRAGOMAN_GEMINI_INTERACTIONS_BASE_URL: `${url}/v1beta`,
    DRAGOMAN_OPENAI_BASE_URL: `${url}/v1`,
    DRAGOMAN_ANTHROPIC_BASE_URL: `${url}/v1`,
    DRAGOMAN_MODEL: `${row}/script`,
  }
  const texts = () => here.server.requests.map(({ bytes }) => bytes.toString())
  return { ...here, env, texts }
}

for (const kind of Object.keys(REPOSITORIES) as (keyof typeof REPOSITORIES)[])
  describe(`a repository made for ${kind}`, () => {
    for (const [wire, row] of Object.entries(ROWS))
      test(`works after one import on ${wire}`, async () => {
        const here = await open(kind, row)
        const imported = await dragoman(['import', kind, '--yes'], here)
        assert.equal(imported.code, 0, imported.err)
        // What the server offers is known from here on, whether or not it is there in time.
        assert.match((await dragoman(['mcp', 'list'], here)).out, /^pond: ready/m)
        const { code, out, err } = await dragoman(['-p', REPOSITORIES[kind].command, '--sandbox', 'off'], here)
        assert.equal(code, 0, err)
        assert.equal(out.trim(), 'Done.', err)
        const [first = '', second = '', third = '', fourth = '', fifth = '', sixth = ''] = here.texts()
        for (const word of [
          'RULE-OF-PROJECT',
          'RULE-IMPORTED',
          'NOTES-CONTENT',
          'SKILL-ABOUT',
          'State: out-fix',
          'AGENT-ABOUT',
          'HOOK-SAYS hello',
        ])
          assert.ok(first.includes(word), `the first request has no ${word}`)
        assert.match(first, /COMMAND-TEXT first fix, second two words, all \(fix \\"two words\\"\)/)
        assert.match(first, /Feed the heron first|"name":"echo"/, 'the MCP server is there')
        for (const word of ['SKILL-TEXT', 'RULE-NESTED']) assert.ok(!first.includes(word), `${word} is there too early`)
        assert.ok(second.includes('SKILL-TEXT'), 'the skill was loaded')
        assert.ok(
          third.includes('SCRIPT-SAYS 42'),
          'its script ran without a question, because its front matter allows it',
        )
        assert.ok(sixth.includes('RULE-NESTED'), 'the instructions of the folder came when a tool was there')
        assert.ok(fourth.includes('AGENT-TEXT') && fourth.includes('CHECK-THIS'), 'the subagent has its instructions')
        assert.ok(fifth.includes('CHECKED.'), 'its answer came back')
        // The hook about commands got the call in the names of its agent.
        const hooked = JSON.parse(readFileSync(join(here.work, 'hooked.json'), 'utf8')) as Record<string, unknown>
        assert.equal(hooked['tool_name'], REPOSITORIES[kind].shellName)
        assert.match(JSON.stringify(hooked['tool_response']), /SCRIPT-SAYS 42/)
        assert.deepEqual(here.server.failures, [])
        // A command of the user was copied.
        await dragoman(['-p', '/hello'], here)
        assert.ok(here.texts().at(-1)?.includes('HELLO-COMMAND'))
      })
  })

describe('dragoman import', () => {
  test('lists first, changes nothing, and names what is not supported', async () => {
    const here = await open('claude')
    const listed = await dragoman(['import', 'claude'], here)
    assert.equal(listed.code, 0)
    assert.match(listed.err, /nothing was changed/)
    for (const expected of [
      /brook: brook-server/,
      /allow run_shell_command\(git log \*\)/,
      /allow run_shell_command\(npm run test \*\)/,
      /deny read_file\(.*secrets\/\*\*\)/,
      /hello\.md → /,
      /not supported:[^]*statusLine/,
      /not supported:[^]*Frobnicate/,
      /not supported:[^]*the model opus/,
      /skills:\n *\.claude\/skills\/release\/SKILL\.md/,
    ])
      assert.match(listed.out, expected)
    assert.match((await dragoman(['config', 'show'], here)).out, /not trusted/)
    assert.doesNotMatch((await dragoman(['config', 'show'], here)).out, /brook/)
  })

  test('overwrites nothing', async () => {
    const here = await open('claude')
    const config = {
      model: 'openai-chat/script',
      mcpServers: { brook: { command: 'mine' } },
      policy: { allow: ['ls'] },
    }
    writeFiles(here.home, {
      '.config/dragoman/config.json': JSON.stringify(config),
      '.config/dragoman/commands/hello.md': 'MY-OWN',
    })
    const { code, out, err } = await dragoman(['import', '--yes'], here)
    assert.equal(code, 0, err)
    assert.match(out, /left unchanged:[^]*brook/)
    const written = JSON.parse(readFileSync(join(here.home, '.config/dragoman/config.json'), 'utf8')) as typeof config
    assert.equal(written.model, config.model)
    assert.deepEqual(written.mcpServers.brook, config.mcpServers.brook)
    assert.ok(written.policy.allow.includes('ls'))
    assert.equal(readFileSync(join(here.home, '.config/dragoman/commands/hello.md'), 'utf8'), 'MY-OWN')
    const explain = async (...words: string[]) =>
      (JSON.parse((await dragoman(['policy', 'explain', ...words, '--json'], here)).out) as { verdict: string }).verdict
    assert.equal(await explain('npm run test unit'), 'allow')
    assert.equal(await explain('secrets/key.txt', '--tool', 'read_file'), 'deny')
    const again = await dragoman(['import', '--yes'], here)
    assert.equal(again.code, 0)
    assert.equal(readFileSync(join(here.home, '.config/dragoman/commands/hello.md'), 'utf8'), 'MY-OWN')
  })

  test('says so where there is nothing, and what is wrong with a name', async () => {
    const here = await stage(SCRIPT)
    assert.match((await dragoman(['import', 'codex'], here)).out, /Nothing was found to import from Codex/)
    const unknown = await dragoman(['import', 'cursor'], here)
    assert.equal(unknown.code, 42)
    assert.match(unknown.err, /unknown subcommand/)
    writeFileSync(
      join(here.work, 'opencode.json'),
      '{ "mcp": { "x": { "type": "local", "command": ["run", "me"] } }, "agent": {} }',
    )
    const { out } = await dragoman(['import', 'opencode'], here)
    assert.match(out, /x: run me/)
    assert.match(out, /not supported:\n.*agent/)
  })
})
