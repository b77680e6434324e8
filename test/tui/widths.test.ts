import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { stage } from '../support/command.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Programs that stand for those which read the clipboard of a desktop; returns the file that holds its picture. */
function writeClipboardPrograms(folder: string): string {
  const picture = join(folder, 'picture.b64')
  mkdirSync(folder)
  for (const name of ['wl-paste', 'xclip', 'pngpaste', 'powershell.exe']) {
    const read = name === 'wl-paste' ? `[ -e ${picture} ] && exec base64 -d ${picture}\n` : ''
    writeFileSync(join(folder, name), `#!/bin/sh\n${read}exit 1\n`)
    chmodSync(join(folder, name), 0o755)
  }
  return picture
}

describe('what has no test of its own for narrow and wide terminals', { skip: noTmux }, () => {
  for (const columns of [60, 100, 160])
    test(`a plan, pickers, search, pictures, memories and lists at ${columns} columns`, async () => {
      const at = await stage({
        steps: [
          { call: [{ name: 'exit_plan_mode', args: { plan: '# Plan\n\n1. **Look**\n2. Change' } }] },
          { say: 'Planned.' },
          { loop: [{ say: 'Hello yourself.' }] },
        ],
      })
      const picture = writeClipboardPrograms(join(at.home, 'bin'))
      const env = { ...at.env, PATH: `${join(at.home, 'bin')}:${at.env['PATH'] ?? ''}` }
      const terminal = openTerminal([], { ...at, env, columns, rows: 45 })
      const send = (text: string): void => {
        terminal.type(text)
        terminal.press('Enter')
      }
      await terminal.shows('Type a request.')

      send('/plan')
      await terminal.shows('Mode plan: only looks')
      send('make a plan for this')
      const asked = await terminal.shows('Carry out this plan?')
      assert.match(asked, /│ 1\. \*\*Look\*\*\n│ 2\. Change/)
      terminal.press('y')
      await terminal.shows('Planned.')
      await terminal.hides('Esc stops')

      terminal.press('C-v')
      await terminal.shows(/No image on the clipboard/)
      writeFileSync(picture, PNG)
      terminal.type('look at this: ')
      terminal.press('C-v')
      await terminal.shows(/clipboard\.png/)
      terminal.press('Enter')
      await terminal.shows('Hello yourself.')
      assert.ok(at.server.requests.at(-1)?.bytes.toString().includes(PNG), 'the picture was sent')
      await terminal.hides('Esc stops')

      const count = at.server.requests.length
      send('clera')
      await terminal.shows(/Did you mean \/clear\?/)
      assert.equal(at.server.requests.length, count, 'nothing was sent')
      terminal.press('C-c')
      await terminal.hides(/> clera\s+(?:Did|openai)/)

      terminal.press('C-r')
      terminal.type('make')
      await terminal.shows(/> make a plan for this\s+Search/)
      terminal.press('C-g')
      await terminal.hides('Search:')

      send('/model')
      await terminal.shows(/openai-chat\/\S+ +in use/)
      terminal.type('gemini-2')
      await terminal.hides(/ in use/)
      await terminal.shows(/› \S*gemini-2/)
      terminal.press('Escape')
      await terminal.hides(/› /)
      terminal.press('C-c')

      send('/memory add the pond is deep')
      await terminal.shows('Remembered for later sessions: the pond is deep')
      send('/memory')
      await terminal.shows(/1 {2}the pond is deep/)
      send('/memory remove 1')
      await terminal.shows('Forgotten: the pond is deep')
      terminal.press('C-l')

      for (const [command, expected] of [
        ['/permissions', /Mode \w+: /],
        ['/cost', /tokens/],
        ['/effort high', 'The effort is now high'],
        ['/skills', 'There are no skills.'],
        ['/login', 'There is no /login here: leave, and run dragoman login.'],
        ['/vim', /Vim keys/i],
      ] as const) {
        send(command)
        await terminal.shows(expected)
      }
      assert.doesNotMatch(terminal.history(), /internal error/)
    })
})
