import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { ApprovalRequest, CallState } from '../../src/agent/calls/call-state.ts'
import type { ConversationBlock } from '../../src/cli/tui/conversation-state.ts'
import { INITIAL_APPROVAL_VIEW_STATE } from '../../src/cli/tui/ui-state.ts'
import { type StyledLine, lineText } from '../../src/cli/tui/term/styled-line.ts'
import { renderApproval } from '../../src/cli/tui/view/approval.ts'
import { renderBlock } from '../../src/cli/tui/view/live-screen.ts'
import type { ApprovalDetails } from '../../src/tool/tool.ts'
import { stage } from '../support/command.ts'
import { type Folded, securityCases, skipWithoutCases, unfolded } from '../support/security-cases.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

interface Case {
  readonly id: string
  readonly surface: string
  readonly input?: string
  readonly inputParts?: Folded
  readonly inputBase64?: string
  readonly chunks?: readonly string[]
  readonly mustNotContain: readonly string[]
  readonly mustContain: readonly string[]
}

const cases = securityCases<Case>('terminal.json')
const look = { width: 100_000 }

function inputOf(one: Case): string {
  if (one.inputBase64 !== undefined) return Buffer.from(one.inputBase64, 'base64').toString('utf8')
  return one.input ?? one.chunks?.join('') ?? unfolded(one.inputParts ?? '')
}

function call(name: string, raw: string, display: string): CallState {
  const content = [{ kind: 'text', text: display }] as const
  return {
    status: 'success',
    ms: 0,
    call: { kind: 'call', id: 'c', name, raw },
    result: { kind: 'result', id: 'c', name, status: 'ok', content, display },
  }
}

function ask(details: ApprovalDetails): StyledLine[] {
  const decision = { verdict: 'ask', rule: 'test', why: 'Because.' } as const
  const one: ApprovalRequest = { id: 'a', call: 'c', tool: 't', details, decision }
  return [...renderApproval([one], INITIAL_APPROVAL_VIEW_STATE, { ...look, rows: 100_000 }).lines]
}

const block = (one: ConversationBlock): StyledLine[] => renderBlock(one, look, 0)

/** A hostile text where the screen would show it. */
const SHOWN: Readonly<Record<string, (text: string) => StyledLine[]>> = {
  'tool-output': (text) => block({ kind: 'call', call: call('run_shell_command', '', text), progress: '', since: 0 }),
  'model-text': (text) => block({ kind: 'text', text, done: true }),
  'approval-prompt': (text) => ask({ kind: 'exec', title: '', command: text, rootCommand: '', folder: '/' }),
  diff: (text) =>
    ask({
      kind: 'edit',
      title: '',
      fileName: 'a',
      filePath: '/a',
      fileDiff: text,
      originalContent: '',
      newContent: '',
    }),
  'file-name': (text) => block({ kind: 'call', call: call('read_file', text, ''), progress: '', since: 0 }),
}

describe('terminal.json on the screen', { skip: skipWithoutCases }, () => {
  test('no view lets anything through that it must not', (t) => {
    let seen = 0
    for (const one of cases) {
      const show = SHOWN[one.surface]
      if (!show) continue
      seen++
      const text = show(inputOf(one)).map(lineText).join('\n')
      for (const never of one.mustNotContain) {
        // A line end of the text may well be a line end of the screen.
        if (never.trim() === '') continue
        assert.ok(
          !text.includes(never),
          `${one.id} shows ${JSON.stringify(never)}: ${JSON.stringify(text).slice(0, 300)}`,
        )
      }
    }
    t.diagnostic(
      `${seen} of ${cases.length} texts are shown on the screen; the others go to logs, JSON, models or servers`,
    )
    assert.ok(seen > 100)
  })

  test('nothing forbidden reaches a real terminal', { skip: noTmux }, async () => {
    const texts = cases.filter(({ surface }) => surface === 'tool-output' || surface === 'model-text')
    const output = texts.filter(({ surface }) => surface === 'tool-output')
    const spoken = texts.filter(({ surface }) => surface === 'model-text')
    const here = await stage([
      ...output.map((_one, at) => ({ call: [{ name: 'run_shell_command', args: { command: `cat text-${at}` } }] })),
      { say: `${spoken.map(inputOf).join('\n\n')}\n\nThe end.` },
    ])
    for (const [at, one] of output.entries()) writeFileSync(join(here.work, `text-${at}`), bytesOf(one))
    const terminal = openTerminal(['--yolo'], { ...here, columns: 120 })
    await terminal.shows('Type a request.')
    const record = join(here.home, 'bytes')
    terminal.recordTo(record)
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows('The end.')
    const written = readFileSync(record, 'utf8')
      // The screen goes on writing: the last sequence may have been recorded in part.
      .replace(/\x1B(?:\][^\x07]*|\[[\d;?<>]*)?$/, '')
      .replaceAll(OURS, '')
      // The title of the terminal, which has the name of the folder only.
      .replaceAll(/\x1B\]2;[^\p{Cc}]*\x07/gu, '')
      .replaceAll(/[\r\n]/g, '')
    assert.doesNotMatch(written, /[^\P{Cc}\t]/u)
    assert.doesNotMatch(written, /[\u202A-\u202E\u2066-\u2069\u200B\u{E0000}-\u{E007F}]/u)
  })
})

// The sequences that the screen itself writes: it needs no others.
const OURS = /\u001B\[(?:\?(?:2026|2004|25)[hl]|[0-9]*[ABC]|[JK]|[0-9;]*m|>1u|<u)/g

function bytesOf(one: Case): Buffer {
  return one.inputBase64 === undefined ? Buffer.from(inputOf(one)) : Buffer.from(one.inputBase64, 'base64')
}
