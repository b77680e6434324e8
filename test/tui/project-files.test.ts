import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { until } from '../support/alive.ts'
import { stage } from '../support/command.ts'
import { writeFiles } from '../support/foreign-repositories.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

const FILES = {
  '.claude/commands/git/mark.md': '---\ndescription: leave a mark\n---\nMARKED $1: !`touch made.txt && echo yes-$1`',
  '.claude/skills/tidy/SKILL.md': '---\nname: tidy\ndescription: How to tidy up.\n---\nTIDY-TEXT for $ARGUMENTS',
}

describe('what a project brings, in the terminal', { skip: noTmux }, () => {
  for (const columns of [60, 100, 160])
    test(`is listed, trusted, used, and asked about again when it changes, at ${columns} columns`, async () => {
      const here = await stage([{ loop: [{ say: 'Hello yourself.' }] }])
      writeFiles(here.work, FILES)
      const sent = () => here.server.requests.map(({ bytes }) => bytes.toString()).join('\n')
      const open = () => openTerminal(['--sandbox', 'off'], { ...here, columns, rows: 40 })
      const terminal = open()
      await terminal.shows('.claude/skills/tidy/SKILL.md')
      terminal.press('Down', 'Enter')
      await terminal.shows('openai-chat/script')
      const say = async (text: string, answer: string | RegExp) => {
        await terminal.hides('Esc stops')
        terminal.type(text)
        terminal.press('Enter')
        return terminal.shows(answer)
      }
      await say('/skills ', /tidy How to tidy up\./)
      // The command in it is asked about like a call of the model; a no sends nothing.
      await say('/git:mark one ', /touch made\.txt/)
      terminal.press('Escape')
      await terminal.shows('was not sent')
      assert.ok(!existsSync(join(here.work, 'made.txt')))
      assert.equal(here.server.requests.length, 0)
      await say('/git:mark two ', /touch made\.txt && echo yes-two/)
      terminal.press('y')
      await terminal.shows('Hello yourself.')
      assert.match(sent(), /MARKED two: yes-two/)
      await say('/tidy the garden ', /Esc stops|Hello yourself/)
      await until(() => sent().includes('TIDY-TEXT for the garden'))
      await say('/memory add The sky is blue. ', 'Remembered')
      await say('/memory ', /1 {2}The sky is blue\./)
      await say('/memory remove 1 ', 'Forgotten')
      assert.doesNotMatch(readFileSync(join(here.home, '.config/dragoman/memory.md'), 'utf8'), /sky/)
      await say('/quit ', 'ended with 0')
      writeFileSync(join(here.work, '.claude/commands/git/mark.md'), 'CHANGED')
      const again = open()
      await again.shows('mark.md (changed)')
      again.press('Enter')
      await again.shows('openai-chat/script')
      again.type('/git:mark ')
      again.press('Enter')
      await again.shows('Unknown command /git:mark')
      assert.doesNotMatch(sent(), /CHANGED/)
    })
})
