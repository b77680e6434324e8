import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import { writeFiles } from '../support/foreign-repositories.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

const CONFIG = '.config/dragoman/config.json'

/** What each of the four agents leaves at home, a word of the offer, and where that is found after the import. */
const AGENTS = {
  'Claude Code': {
    columns: 60,
    files: {
      '.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash(npm run lint:*)'] }, statusLine: {} }),
    },
    offer: /allow run_shell_command\(npm run lint \*\)[^]*not supported:[^]*statusLine/,
    imported: /npm run lint \*/,
  },
  Codex: {
    columns: 100,
    files: { '.codex/config.toml': '[mcp_servers.pond]\ncommand = "true"\n' },
    offer: /pond: true/,
    imported: /"pond"/,
  },
  'Gemini CLI': {
    columns: 160,
    files: { '.gemini/settings.json': '{"general": {"vimMode": true}}' },
    offer: /vim: true/,
    imported: /"vim": true/,
  },
  opencode: {
    columns: 100,
    files: { '.config/opencode/opencode.json': '{"permission": {"webfetch": "deny"}}' },
    offer: /deny web_fetch/,
    imported: /web_fetch/,
  },
} as const

test('a model is imported only where it can be used: an import never makes the next start fail', async () => {
  const at = await stage([])
  writeFiles(at.home, { '.claude/settings.json': '{"model": "claude-sonnet-4-5"}' })
  const without = await dragoman(['import', 'claude'], at)
  assert.match(without.out, /not supported:\s+the model anthropic\/claude-sonnet-4-5: anthropic needs a key/)
  const withKey = await dragoman(['import', 'claude'], { ...at, env: { ...at.env, ANTHROPIC_API_KEY: 'k' } })
  assert.match(withKey.out, /settings:\s+model: "anthropic\/claude-sonnet-4-5"/)
  writeFiles(at.home, {
    '.claude/settings.json': '{"model": "claude-opus-5-5[1m]", "editorMode": "vim", "theme": "light-daltonized"}',
  })
  const long = await dragoman(['import', 'claude'], { ...at, env: { ...at.env, ANTHROPIC_API_KEY: 'k' } })
  assert.match(long.out, /model: "anthropic\/claude-opus-5-5"\n/, 'what Claude Code adds to a name is no part of it')
  assert.match(long.out, /vim: true[^]*theme: "light"|theme: "light"[^]*vim: true/)
  assert.doesNotMatch(long.out, /not supported/)
})

describe('the settings of other agents at the first start', { skip: noTmux }, () => {
  for (const [name, { columns, files, offer, imported }] of Object.entries(AGENTS))
    test(`those of ${name} are offered once at ${columns} columns, and headless nothing is asked`, async () => {
      const at = await stage([{ say: 'Headless.' }])
      writeFiles(at.home, files)
      assert.equal((await dragoman(['-p', 'go'], at)).out, 'Headless.\n')
      const terminal = openTerminal([], { ...at, columns, rows: 40 })
      const shown = await terminal.shows('Continue without them')
      assert.match(shown, new RegExp(`You have settings of ${name} that can be imported:`))
      assert.match(shown, offer)
      assert.ok(!existsSync(join(at.home, CONFIG)), 'nothing was written before the answer')
      terminal.press('2')
      await terminal.shows('Type a request.')
      assert.match(readFileSync(join(at.home, CONFIG), 'utf8'), imported)
    })

  test('a no is kept; what only a project brings, and what is used where it is, is not offered', async () => {
    const at = await stage([])
    writeFiles(at.home, { '.claude/agents/mine.md': '---\nname: mine\ndescription: Mine.\n---\nDo it.\n' })
    writeFiles(at.work, { '.claude/settings.json': '{"permissions": {"allow": ["Bash(curl:*)"]}}' })
    assert.equal((await dragoman(['trust', '--refuse'], at)).code, 0)
    const first = openTerminal([], { ...at, columns: 60 })
    await first.shows('Type a request.')
    assert.doesNotMatch(first.history(), /can be imported/)
    first.press('C-d')
    await first.shows('ended with 0')
    writeFiles(at.home, { '.claude/commands/hello.md': 'Hello.' })
    const second = openTerminal([], { ...at, columns: 60 })
    await second.shows('Continue without them')
    assert.doesNotMatch(second.history(), /curl/)
    second.press('Enter')
    await second.shows('Type a request.')
    assert.ok(!existsSync(join(at.home, '.config/dragoman/commands/hello.md')))
    second.press('C-d')
    await second.shows('ended with 0')
    const third = openTerminal([], { ...at, columns: 60 })
    await third.shows('Type a request.')
    assert.doesNotMatch(third.history(), /can be imported/)
  })
})
