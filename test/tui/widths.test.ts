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

  for (const columns of [60, 100, 160])
    test(`commands that show or change something, search and pickers at ${columns} columns`, async () => {
      const at = await stage({ steps: [{ loop: [{ say: 'Hello yourself.' }] }] })
      const terminal = openTerminal([], { ...at, columns, rows: 45 })
      const send = (text: string): void => {
        terminal.type(text)
        terminal.press('Enter')
      }
      await terminal.shows('Type a request.')
      send('hello there')
      await terminal.shows('Hello yourself.')
      await terminal.hides('Esc stops')
      for (const [command, shown] of Object.entries({
        '/memory': /No instructions or memories\./,
        '/memory add likes tea': /Remembered for later sessions: likes tea/,
        '/permissions': /Mode default: asks about edits and commands\./,
        '/effort': /The effort is not set: the model decides\./,
        '/effort high': /The effort is now high, for this session\./,
        '/context': /■ Conversation +about \d+/,
        '/config': /"policies": \{/,
        '/cost': /^prompts {2}1$/m,
        '/diff': /This session has changed no files\./,
        '/skills': /There are no skills\./,
        '/hooks': /hook/,
      })) {
        send(command)
        await terminal.shows(shown)
      }

      terminal.press('C-r')
      terminal.type('hello')
      await terminal.shows(/> hello there\nSearch: hello/)
      terminal.press('Escape')
      await terminal.hides('Search: hello')
      terminal.press('C-u')
      await terminal.shows(/^>$/m)

      send('/clear')
      await terminal.shows('New session; the previous one is saved: /resume')
      send('/resume')
      await terminal.shows(/› \d{8}-\d{6}-\w+ /)
      terminal.type('hel')
      await terminal.shows(/> \/resume hel\n› \d{8}-/)
      terminal.press('Enter')
      await terminal.shows(/Session \d{8}-\d{6}-\w+\.\n\n> hello there\n\nHello yourself\./)

      send('/vim')
      await terminal.shows('Vim keys are on; Esc leaves insert mode.')
      terminal.type('one two three')
      await terminal.shows(/> one two three$/m)
      terminal.press('Escape')
      await terminal.shows(/: one two three$/m)
      for (const key of ['0', 'd', '2', 'w']) terminal.type(key)
      await terminal.shows(/: three$/m)
      assert.equal(at.server.requests.length, 1)
      assert.doesNotMatch(terminal.history(), /internal error/)
    })
})
