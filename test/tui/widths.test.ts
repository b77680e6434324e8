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
    test(`a plan and a picture of the clipboard at ${columns} columns`, async () => {
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
      assert.doesNotMatch(terminal.history(), /internal error/)
    })
})
