import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { ApprovalRequest, CallState } from '../../src/agent/calls/call-state.ts'
import type { ConversationBlock } from '../../src/cli/tui/conversation-state.ts'
import { applyEditorEdit, EMPTY_EDITOR } from '../../src/cli/tui/input/text-editor.ts'
import { renderChoiceList } from '../../src/cli/tui/onboarding/list-dialog.ts'
import {
  createUiState,
  type UiState,
  type StatusInfo,
  INITIAL_APPROVAL_VIEW_STATE,
} from '../../src/cli/tui/ui-state.ts'
import { type StyledLine, lineWidth, lineText } from '../../src/cli/tui/term/styled-line.ts'
import { supportsUtf8 } from '../../src/cli/tui/term/terminal.ts'
import { renderCall } from '../../src/cli/tui/view/call.ts'
import { renderDiff, countDiffLines } from '../../src/cli/tui/view/diff.ts'
import { renderBlock, renderLiveScreen } from '../../src/cli/tui/view/live-screen.ts'
import type { ViewOptions } from '../../src/cli/tui/view/view-options.ts'
import { renderWelcome } from '../../src/cli/tui/view/welcome.ts'
import { root } from '../support/paths.ts'

// What the views show is in test/tui/snapshots; DRAGOMAN_SNAPSHOTS=write npm test -- views writes it anew.

const STATUS: StatusInfo = {
  model: 'anthropic/claude-sonnet',
  mode: 'default',
  folder: '~/work/calculator',
  branch: 'main',
  context: 12_400,
  window: 200_000,
  cost: 0.0421,
  cached: 0.87,
  sandbox: 'sandbox',
}
const STATE = createUiState(STATUS)
const NOW = 100_000

const ANSWER = `# What I found

The function \`sum\` **subtracts**. Two things follow:

- the test fails, as it must, because one and one is not nothing but two, in every book there is
- nobody else uses it
  1. not the page
  2. not the command

| File | What is wrong with it |
|---|---:|
| sum.js | a minus where a plus belongs, in the only line that does anything |
| 語.js | nothing |

\`\`\`js
export function sum(a, b) {
  return a + b
}
\`\`\`

> See the [manual](https://example.com/manual).`

const DIFF = `--- a/sum.js
+++ b/sum.js
@@ -1,4 +1,4 @@
 /** The sum of two numbers. */
 export function sum(a, b) {
-  return a - b
+  return a + b
 }
@@ -98,2 +98,3 @@
 export const one = 1
+export const somethingWithAVeryLongName = 'and a value that is long enough to be broken in a narrow terminal'
 export const two = 2
`

const call = (name: string, input: Record<string, string>) =>
  ({ kind: 'call', id: name, name, raw: JSON.stringify(input), input }) as const

function done(name: string, input: Record<string, string>, display: unknown, status: 'ok' | 'error' | 'denied' = 'ok') {
  const result = { kind: 'result', id: name, name, status, content: [{ kind: 'text', text: String(display) }], display }
  const state = status === 'ok' ? 'success' : 'error'
  return block({ status: state, call: call(name, input), result, ms: 2300 } as unknown as CallState)
}

function block(state: CallState, progress = ''): ConversationBlock {
  return { kind: 'call', call: state, progress, since: NOW - 4000 }
}

const SEQ = Array.from({ length: 30 }, (_unused, at) => `line ${at + 1}`).join('\n')

const ROOT = '/home/ann/work/calculator'

const BLOCKS: readonly ConversationBlock[] = [
  { kind: 'user', text: 'Why does the test fail?\nPlease mend it, and tell me what you did, in a sentence or two.' },
  { kind: 'thought', text: '**Looking around**\nfirst\n\n**Reading the test**\nsecond', done: true, ms: 5200 },
  { kind: 'text', text: ANSWER, done: true },
  done('read_file', { absolute_path: '/home/ann/work/calculator/sum.js' }, 'Read all 4 lines from sum.js'),
  done('read_file', { absolute_path: `${ROOT}/packages/interface/src/components/a-name-that-is-long.test.ts` }, 'Read'),
  done(
    'read_file',
    { absolute_path: '/usr/share/somewhere/far/away/from/here/and/deep/in/a/tree/of/many/x.ts' },
    'Read',
  ),
  done('search_file_content', { pattern: 'sum\\(', path: `${ROOT}/src` }, 'Found 1 match'),
  done('run_shell_command', { command: `grep -rn ${'word '.repeat(50)}` }, 'nothing'),
  done('replace', { file_path: '/home/ann/work/calculator/sum.js' }, { fileDiff: DIFF }),
  done('run_shell_command', { command: 'seq 30\nfalse' }, SEQ),
  done('read_file', { absolute_path: '/nowhere' }, 'File not found: /nowhere', 'error'),
  done('write_file', { file_path: '/etc/passwd' }, 'The person said no.', 'denied'),
  { kind: 'notice', text: 'openai asks us to slow down. Retrying in 3 s.', tone: 'warn' },
]

const edited = (id: string, filePath: string): ApprovalRequest => ({
  id,
  call: id,
  tool: 'replace',
  details: {
    kind: 'edit',
    title: 'edit',
    fileName: 'sum.js',
    filePath,
    fileDiff: DIFF,
    originalContent: 'x',
    newContent: 'y',
  },
  decision: {
    verdict: 'ask',
    rule: 'edit',
    why: `It changes ${filePath}.`,
    isRoutine: true,
    grants: [
      {
        breadth: 'tool',
        rules: ['replace(**)'],
        covers: 'replace in the workspace, but for protected files',
        scopes: ['session', 'project', 'user'],
      },
      { breadth: 'path', rules: [`replace(${filePath})`], covers: `replace of ${filePath}`, scopes: ['session'] },
    ],
  },
})

const COMMAND: ApprovalRequest = {
  id: 'c',
  call: 'c',
  tool: 'run_shell_command',
  details: {
    kind: 'exec',
    title: 'run',
    command: 'npm test && echo "caf\u202Ee" \u001B[2K# hidden',
    rootCommand: 'npm',
    folder: '/home/ann/work/calculator',
  },
  decision: {
    verdict: 'ask',
    rule: 'none',
    why: 'No rule allows “npm test”.',
    grants: [
      {
        breadth: 'exact',
        rules: ['=npm test'],
        covers: 'exactly the words “npm test”',
        scopes: ['session', 'project', 'user'],
      },
    ],
  },
}

const command = (text: string): ApprovalRequest => ({
  ...COMMAND,
  details: { kind: 'exec', title: 'run', command: text, rootCommand: 'x', folder: ROOT },
})

/** Blanks where rows end, lines that are indented like rows that go on, tabs, and more than fits. */
const LONG = command(
  `for one in a b; do\n\techo "$one" \n  ${'word '.repeat(60)}\n  touch PWNED # looks like the row above\ndone\n${'echo line\n'.repeat(60)}`,
)

const SECRET = command(
  'curl -H "Authorization: Bearer sk-abcdefghij1234567890" "https://host/?token=abc123;touch${IFS}PWNED"',
)

const SERVER: ApprovalRequest = {
  ...COMMAND,
  tool: 'run_query',
  details: {
    kind: 'mcp',
    title: 'x',
    serverName: 'db',
    toolName: 'run_query',
    toolDisplayName: 'Run a query',
    input: JSON.stringify({ sql: 'DROP TABLE users; -- \u200b', note: '-----BEGIN PRIVATE KEY-----\nx' }, undefined, 2),
  },
}

const PLAN: ApprovalRequest = {
  ...COMMAND,
  tool: 'exit_plan_mode',
  details: { kind: 'plan', title: 'Plan', plan: '1. Mend `sum`.\n2. Run the tests.\n' },
  decision: { verdict: 'ask', rule: 'mode plan', why: 'A plan is carried out when you approve it.' },
}

const running: CallState = {
  status: 'executing',
  call: call('run_shell_command', { command: 'npm test' }),
} as unknown as CallState

const SCENES: Readonly<Record<string, (width: number) => readonly StyledLine[]>> = {
  conversation: (width) => BLOCKS.flatMap((one) => renderBlock(one, { width, root: ROOT }, NOW)),
  welcome: (width) => renderWelcome(STATUS, ['The settings in .dragoman/config.json are not used.'], { width }),
  idle: (width) => live({}, width),
  'no-cache': (width) => live({ status: { ...STATUS, cached: 0 } }, width),
  working: (width) =>
    live(
      {
        runningSince: NOW - 7000,
        queued: ['and then the other one', 'thanks'],
        conversation: { live: [block(running, 'one\ntwo\nthree')], parts: {}, since: 0 },
        editor: applyEditorEdit(EMPTY_EDITOR, { do: 'insert', text: 'a second line\nis being written' }),
      },
      width,
    ),
  menu: (width) =>
    live(
      {
        editor: applyEditorEdit(EMPTY_EDITOR, { do: 'insert', text: '/mo' }),
        menu: {
          items: [
            { value: '/model', about: 'another model from here on' },
            { value: '/mode', about: 'what happens unasked' },
          ],
          selected: 1,
          from: 0,
          to: 3,
          enterAction: 'submit',
        },
      },
      width,
    ),
  'ask-edits': (width) =>
    live(
      { runningSince: NOW - 1000, approvals: [edited('a', '/home/ann/work/calculator/sum.js'), edited('b', '/tmp/b')] },
      width,
    ),
  'ask-command': (width) =>
    live(
      {
        runningSince: NOW - 1000,
        approvals: [COMMAND],
        editor: applyEditorEdit(EMPTY_EDITOR, { do: 'insert', text: 'half a sent' }),
      },
      width,
    ),
  'ask-reason': (width) =>
    live(
      {
        approvals: [COMMAND],
        approvalView: {
          ...INITIAL_APPROVAL_VIEW_STATE,
          reasonEditor: applyEditorEdit(EMPTY_EDITOR, { do: 'insert', text: 'too slow' }),
        },
      },
      width,
    ),
  'ask-always': (width) =>
    live(
      {
        approvals: [edited('a', `${ROOT}/sum.js`)],
        approvalView: { ...INITIAL_APPROVAL_VIEW_STATE, isChoosing: true },
      },
      width,
    ),
  'ask-long': (width) =>
    live({ approvals: [LONG], approvalView: { ...INITIAL_APPROVAL_VIEW_STATE, isTooEarly: true } }, width),
  'ask-secret': (width) => live({ approvals: [SECRET] }, width),
  'ask-server': (width) => live({ approvals: [SERVER] }, width),
  'ask-plan': (width) => live({ approvals: [PLAN] }, width),
  'pick-key': (width) =>
    renderChoiceList(
      ['gemini', 'anthropic', 'openai', 'openrouter', 'deepseek', 'xai', 'mistral', 'zai', 'groq', 'together'].map(
        (label) => ({ label, about: `${label.toUpperCase()}_API_KEY` }),
      ),
      { selected: 7, filter: '', isLong: true, width, rows: 12 },
    ),
}

test('no line of a file passes for the head of its diff', () => {
  const diff =
    '--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- drop it\n+++ keep it\n end\n\\ No newline at end of file\n'
  assert.deepEqual(
    renderDiff(diff, 40).map((one) => lineText(one)),
    ['1 --- drop it', '1 +++ keep it', '2  end', '  \\ No newline at end of file'],
  )
  assert.deepEqual(countDiffLines(diff), { added: 1, removed: 1 })
  const same = 'Index: x\n=======\n--- x\n+++ x\n'
  assert.deepEqual([renderDiff(same, 40), countDiffLines(same)], [[], { added: 0, removed: 0 }])
})

function live(change: Partial<UiState>, width: number): readonly StyledLine[] {
  return renderLiveScreen({ ...STATE, ...change }, { width, rows: 30, root: ROOT }, NOW).lines
}

describe('the views', () => {
  for (const [name, scene] of Object.entries(SCENES))
    for (const width of [60, 100, 200])
      test(`${name} in ${width} columns`, () => {
        const lines = scene(width)
        for (const one of lines) assert.ok(lineWidth(one) <= width, `wider than ${width}: ${lineText(one)}`)
        const shown = `${lines.map((one) => lineText(one).trimEnd()).join('\n')}\n`
        assert.doesNotMatch(shown, /[\u0000-\u0009\u000B-\u001F\u007F\u202E]/)
        const file = join(root, 'test/tui/snapshots', `${name}-${width}.txt`)
        if (process.env['DRAGOMAN_SNAPSHOTS'] === 'write') writeFileSync(file, shown)
        assert.equal(shown, readFileSync(file, 'utf8'))
      })
})

test('task lists stand with their boxes, tight and loose, nested and numbered', () => {
  const shown = (text: string, look: Pick<ViewOptions, 'ascii'> = {}) =>
    renderBlock({ kind: 'text', text, done: true }, { width: 40, ...look }, NOW)
      .slice(1)
      .map((one) => lineText(one).trimEnd())
  assert.deepEqual(
    shown('Plan:\n\n- [x] read **it**\n- [ ] change it\n  - [ ] test\n- plain\n\n1. [ ] one\n2. [x] two'),
    ['Plan:', '', '☑ read it', '☐ change it', '  ☐ test', '• plain', '', '1. ☐ one', '2. ☑ two'],
  )
  assert.deepEqual(shown('- [ ] one\n\n- [x] two'), ['☐ one', '☑ two'])
  assert.deepEqual(shown('- [ ] one\n- [x] two', { ascii: true }), ['[ ] one', '[x] two'])
})

test('only a terminal that says it is not UTF-8 gets ASCII', () => {
  for (const env of [{}, { LANG: 'de_DE.UTF-8' }, { LC_ALL: 'C.utf8', LANG: 'C' }, { LANG: '' }])
    assert.ok(supportsUtf8(env))
  for (const env of [{ LANG: 'C' }, { LC_ALL: 'POSIX', LANG: 'C.UTF-8' }]) assert.ok(!supportsUtf8(env))
})

test('a message that says why nothing was done is shown to its end; output is cut', () => {
  const why = 'Denied by the policy: It would write .git/config, which is protected because it may name programs.'
  const shown = (status: 'denied' | 'error' | 'ok') => {
    const result = {
      kind: 'result',
      id: '1',
      name: 'write_file',
      status,
      content: [{ kind: 'text', text: why }],
    } as const
    const made = { kind: 'call', id: '1', name: 'write_file', raw: '{}' } as const
    const state = { status: status === 'ok' ? 'success' : 'cancelled', call: made, result, ms: 0 } as const
    return renderCall(state, { width: 40 }, {})
      .slice(1)
      .map((one) => lineText(one).trim())
      .join(' ')
  }
  assert.equal(shown('denied'), why)
  assert.equal(shown('error'), why)
  assert.notEqual(shown('ok'), why)
})
