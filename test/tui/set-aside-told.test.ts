import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { skipWithoutBox } from '../host/box.ts'
import { dragoman, stage } from '../support/command.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

/** Writes a protected file in a way that no reading of the command tells. */
const COMMAND = `node -e "require('fs').writeFileSync(['AGENTS','md'].join('.'), 'x'); console.log('wrote it')"`
const STEPS = [{ call: [{ name: 'run_shell_command', args: { command: COMMAND } }] }, { say: 'All done.' }]

describe('a protected file that a command made', { skip: await skipWithoutBox() }, () => {
  test('the person is told on the terminal that it was renamed', { skip: noTmux }, async () => {
    const at = await stage(STEPS)
    const terminal = openTerminal([], { ...at, rows: 40 })
    await terminal.shows('Type a request.')
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows('Run this?')
    terminal.press('y')
    const screen = await terminal.shows('All done.')
    assert.match(screen, /wrote it[^]*AGENTS\.md\s+is\s+protected[^]*renamed\s+to\s+AGENTS\.md\.set-aside/)
    assert.ok(existsSync(join(at.work, 'AGENTS.md.set-aside')))
  })

  for (const format of ['text', 'json', 'stream-json'])
    test(`the person is told with -p, as ${format}`, async () => {
      const at = await stage(STEPS)
      const args = ['-p', 'go', '--allowed-tools', 'run_shell_command', '--output-format', format]
      const { code, out, err } = await dragoman(args, at)
      assert.equal(code, 0, err)
      const told =
        format === 'text'
          ? err
          : format === 'json'
            ? JSON.stringify((JSON.parse(out) as { warnings?: unknown }).warnings ?? [])
            : out
                .split('\n')
                .filter((line) => line.includes('"severity":"warning"'))
                .join('\n')
      assert.match(told, /AGENTS\.md is protected.*renamed to AGENTS\.md\.set-aside/)
      assert.ok(existsSync(join(at.work, 'AGENTS.md.set-aside')))
    })
})
