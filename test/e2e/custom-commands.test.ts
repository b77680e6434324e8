import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import { writeFiles } from '../support/foreign-repositories.ts'

const MARK = 'made.txt'

/** A model that always tries to run the same command first. */
const SCRIPT = {
  start: 'prompt' as const,
  steps: [{ call: [{ name: 'run_shell_command', args: { command: `touch ${MARK}` } }] }, { loop: [{ say: 'Done.' }] }],
}

async function open(files: Readonly<Record<string, string>>) {
  const here = await stage(SCRIPT)
  writeFiles(here.work, { 'notes.txt': 'NOTES-CONTENT', ...files })
  assert.equal((await dragoman(['trust', '--yes'], here)).code, 0)
  const run = async (prompt: string) => {
    const ended = await dragoman(['-p', prompt, '--sandbox', 'off'], here)
    const bodies = here.server.requests.map(({ body }) => body as { model?: string; messages: { content: unknown }[] })
    const first = bodies.find(({ messages }) => JSON.stringify(messages).includes('SAY'))
    return { ...ended, model: first?.model, sent: JSON.stringify(first?.messages) }
  }
  return { ...here, run }
}

describe('custom commands', () => {
  for (const [form, name, text] of [
    [
      'Markdown',
      '.claude/commands/say.md',
      `---\ndescription: "Say: it"\nmodel: openai-chat/script\nallowed-tools:\n  - Bash(touch:*)\n---\nSAY\n`,
    ],
    [
      'TOML',
      '.gemini/commands/say.toml',
      `description = "Say: it"\nmodel = "openai-chat/script"\nallowed-tools = ["Bash(touch:*)"]\nprompt = "SAY"\n`,
    ],
  ] as const)
    test(`${form}: the description is listed, the model is used, and the tools are allowed for this prompt`, async () => {
      const here = await open({ [name]: text })
      // Without the front matter another model would answer, which does not exist.
      here.env['DRAGOMAN_MODEL'] = 'openai-chat/nobody'
      const { code, err, model } = await here.run('/say')
      assert.equal(code, 0, err)
      assert.equal(model, 'script')
      assert.ok(existsSync(join(here.work, MARK)), 'the command of the model needed no approval')
    })

  test('a short model name of another agent is left out, and without allowed-tools nothing is allowed', async () => {
    const here = await open({ '.claude/commands/say.md': '---\nmodel: opus\n---\nSAY' })
    const { code, model } = await here.run('/say')
    assert.equal(code, 0)
    assert.equal(model, 'script')
    assert.ok(!existsSync(join(here.work, MARK)))
  })

  for (const [what, path, text, prompt, expected] of [
    [
      '$ARGUMENTS',
      '.claude/commands/say.md',
      'SAY [$ARGUMENTS]',
      '/say one "two three"',
      /SAY \[one \\"two three\\"\]/,
    ],
    ['$1 and $2', '.claude/commands/say.md', 'SAY [$1|$2|$3]', '/say one "two three"', /SAY \[one\|two three\|\]/],
    ['no placeholder', '.claude/commands/say.md', 'SAY', '/say one two', /SAY\\n\\none two/],
    ['@file', '.claude/commands/say.md', 'SAY @notes.txt', '/say', /NOTES-CONTENT/],
    ['@$1', '.claude/commands/say.md', 'SAY @$1', '/say notes.txt', /NOTES-CONTENT/],
    [
      '!`command`',
      '.claude/commands/say.md',
      '---\nallowed-tools: Bash(echo:*)\n---\nSAY !`echo made-$1`.',
      '/say "a b"',
      /SAY made-a b\./,
    ],
    ['{{args}}', '.gemini/commands/say.toml', 'prompt = "SAY [{{args}}]"', '/say one two', /SAY \[one two\]/],
    ['@{file}', '.gemini/commands/say.toml', 'prompt = "SAY @{notes.txt}"', '/say', /SAY [^"]*NOTES-CONTENT/],
    [
      '!{command}',
      '.gemini/commands/git/say.toml',
      'allowed-tools = ["Bash(echo:*)"]\nprompt = "SAY !{echo made-{{args}}}."',
      '/git:say x',
      /SAY made-x\./,
    ],
  ] as const)
    test(`${what} in ${path.endsWith('toml') ? 'TOML' : 'Markdown'}`, async () => {
      const here = await open({ [path]: text })
      const { code, err, sent } = await here.run(prompt)
      assert.equal(code, 0, err)
      assert.match(sent, expected)
    })
})

test('skills of the user need no trust: by name for the model, in full when called', async () => {
  const here = await open({})
  const folders = ['.agents/skills', '.claude/skills', '.gemini/skills', '.codex/skills', '.config/dragoman/skills']
  for (const [at, folder] of folders.entries())
    writeFiles(here.home, {
      [`${folder}/kit-${at}/SKILL.md`]: `---\nname: kit-${at}\ndescription: ABOUT-${at}\n---\nSAY TEXT-${at} $ARGUMENTS`,
    })
  for (const at of folders.keys()) {
    const { code, err, sent } = await here.run(`/kit-${at} now`)
    assert.equal(code, 0, err)
    assert.match(sent, /SAY TEXT-0/)
    if (at === 0)
      for (const other of folders.keys())
        assert.ok(JSON.stringify(here.server.requests[0]?.body).includes(`ABOUT-${other}`))
    assert.ok(
      here.server.requests.some(({ bytes }) => bytes.toString().includes(`SAY TEXT-${at}`)),
      String(at),
    )
  }
})
