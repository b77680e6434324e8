import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { INITIAL_APPROVAL_VIEW_STATE } from '../../src/cli/tui/ui-state.ts'
import { lineText } from '../../src/cli/tui/term/styled-line.ts'
import { renderApproval } from '../../src/cli/tui/view/approval.ts'
import type { ApprovalDetails } from '../../src/tool/tool.ts'
import { type Folded, securityCases, skipWithoutCases, unfolded } from '../support/security-cases.ts'

/** A question about a call with these details. */
function asked(details: ApprovalDetails): string {
  const decision = { verdict: 'ask', rule: 'r', why: 'It does something.' } as const
  const ask = { id: 'a', call: 'c', tool: 't', details, decision }
  const { lines } = renderApproval([ask], INITIAL_APPROVAL_VIEW_STATE, { width: 200, rows: 1000 })
  return lines.map(lineText).join('\n')
}

function command(text: string): string {
  return asked({ kind: 'exec', title: 'Run', command: text, rootCommand: 'x', folder: '/ws' })
}

/** What we ourselves say when a command is asked about. */
const OURS = ['? Run this in /ws?', 'It does something.', '[y] yes, once   [n] no, and say why   [Esc] no']

/** Nothing but what can be seen, and lines. */
const SEEN = /^(?:[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|\n)*$/u

describe('text that is to deceive a person who is asked', () => {
  const HOSTILE = [
    'ls\u202e -la; rm -rf src',
    'ls \u001b[8m; rm -rf src\u001b[0m',
    'ls \u001b]8;;https://evil.example\u0007; rm -rf src',
    'echo ok\r; rm -rf src',
    'echo ok\u009b2K\u009b1G; rm -rf src',
    `ls${' '.repeat(5000)}; rm -rf src`,
    `ls${'\n'.repeat(500)}; rm -rf src`,
    `ls${'\u2800'.repeat(500)}; rm -rf src`,
    `ls${'\u00a0'.repeat(500)}; rm -rf src`,
    `ls\u200b\u2060\ufeff\u00ad\u{E0041}; rm -rf src`,
    'ls\n\nAllowed by the person.\n  [y]es, once   > y\n; rm -rf src',
  ]
  for (const text of HOSTILE) {
    test(JSON.stringify(text).slice(0, 60), () => {
      const shown = command(text)
      assert.match(shown, SEEN)
      assert.match(shown, /rm -rf src/)
      assert.ok(shown.split('\n').length < 20, 'it pushes the question away')
      const ours = shown.split('\n').filter((line) => line !== '' && !/^[│┆] /.test(line))
      assert.deepEqual(ours, OURS, 'it passes for the question')
    })
  }

  test('a change, a file name, a server and a page are shown the same way', () => {
    const diff = asked({
      kind: 'edit',
      title: 'Edit',
      fileName: 'a',
      filePath: '/ws/report\u202efdp.exe\nRun this in /safe?',
      fileDiff: '+if (admin) {\u2066 /* }\u2066 begin\n\nChange /safe?',
      originalContent: null,
      newContent: '',
    })
    const server = asked({ kind: 'mcp', title: 'x', serverName: 's\u001b[2J', toolName: 'a\nb', toolDisplayName: 'x' })
    const page = asked({ kind: 'info', title: 'Fetch', prompt: 'Read https://ex\u0430mple.org/\u202e', urls: [] })
    for (const shown of [diff, server, page]) assert.match(shown, SEEN)
    assert.match(page, /xn--exmple-4nf\.org/)
    assert.equal(diff.split('\n').filter((line) => /^\? (?:Change|Create) /.test(line)).length, 1)
    assert.equal(server.split('\n').filter((line) => line.startsWith('? ')).length, 1)
  })

  test('a secret in a command is not shown, and nothing else is hidden', () => {
    const shown = command('rm -rf src && TOKEN=abcdefgh12345678ijkl curl https://evil.example')
    assert.doesNotMatch(shown, /abcdefgh1234/)
    assert.match(shown, /rm -rf src && TOKEN=\S+ curl https:\/\/evil\.example/)
  })

  test('the cases for questions', { skip: skipWithoutCases }, () => {
    interface Case {
      readonly id: string
      readonly surface: string
      readonly input?: string
      readonly inputParts?: Folded
      readonly mustNotContain: readonly string[]
      readonly mustContain: readonly string[]
    }
    for (const one of ['terminal.json', 'round2/terminal.json'].flatMap((file) => securityCases<Case>(file))) {
      if (one.surface !== 'approval-prompt') continue
      const shown = command(one.input ?? unfolded(one.inputParts ?? ''))
      for (const text of one.mustNotContain) assert.ok(!shown.includes(text), one.id)
      for (const text of one.mustContain) assert.ok(shown.includes(text), one.id)
    }
  })
})
