import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ApprovalRequest } from '../../src/agent/calls/call-state.ts'
import { findCompletions } from '../../src/cli/tui/input/completion.ts'
import { applyEditorEdit, EMPTY_EDITOR } from '../../src/cli/tui/input/text-editor.ts'
import { type UiAction, handleKey, type KeyResult } from '../../src/cli/tui/input/handle-key.ts'
import { applyHeldKey } from '../../src/cli/tui/input/approval-keys.ts'
import {
  createUiState,
  type UiState,
  INITIAL_APPROVAL_VIEW_STATE,
  addApprovalRequest,
  removeApprovalRequest,
} from '../../src/cli/tui/ui-state.ts'
import { type KeyEvent, createKeyParser } from '../../src/cli/tui/term/key-parser.ts'
import { lineText } from '../../src/cli/tui/term/styled-line.ts'
import { renderApproval, markShownLines } from '../../src/cli/tui/view/approval.ts'
import { renderLiveScreen } from '../../src/cli/tui/view/live-screen.ts'

const START = createUiState({ model: 'm', mode: 'default', folder: '~' })

const granted = (covers: string): Pick<ApprovalRequest['decision'], 'grants'> => ({
  grants: [{ breadth: 'exact', rules: ['r'], covers, scopes: ['session', 'project', 'user'] }],
})

const asked = (id: string, kind: 'edit' | 'exec' = 'exec', covers?: string): ApprovalRequest => ({
  id,
  call: id,
  tool: 't',
  details:
    kind === 'exec'
      ? { kind, title: '', command: 'x', rootCommand: 'x', folder: '/' }
      : { kind, title: '', fileName: 'f', filePath: '/f', fileDiff: '', originalContent: '', newContent: '' },
  decision: { verdict: 'ask', rule: '', why: '', ...(covers !== undefined && granted(covers)) },
})

/** A question as it is shown. */
function askText({ approvals, approvalView, size = { width: 80, rows: 24 } }: UiState): string {
  return renderApproval(approvals, approvalView, size).lines.map(lineText).join('\n')
}

/** Presses what a terminal would send, without a pause; then there is one, and the screen is drawn. */
function pressed(state: UiState, sent: string): { state: UiState; deeds: UiAction[] } {
  const reader = createKeyParser()
  const deeds: UiAction[] = []
  let next = markShownLines(state)
  const take = (done: KeyResult): void => {
    next = markShownLines(done.state)
    deeds.push(...(done.actions ?? []).filter((deed) => deed.do !== 'complete'))
  }
  const keys = sent.split('').flatMap((one): KeyEvent[] => reader.parse(one))
  for (const key of [...keys, ...reader.flush()]) take(handleKey(next, key))
  take(applyHeldKey(next))
  return { state: next, deeds }
}

/** The same, with a pause after each piece. */
function slowly(state: UiState, ...pieces: readonly string[]): { state: UiState; deeds: UiAction[] } {
  return pieces.reduce(
    (before, piece) => {
      const after = pressed(before.state, piece)
      return { state: after.state, deeds: [...before.deeds, ...after.deeds] }
    },
    { state, deeds: [] as UiAction[] },
  )
}

describe('what a key does', () => {
  test('Enter sends; a backslash, Alt and Shift make a new line instead', () => {
    assert.deepEqual(pressed(START, 'hello\r').deeds, [{ do: 'submit', text: 'hello' }])
    assert.equal(pressed(START, 'a\\\rb\u001B\rc\u001B[13;2ud').state.editor.text, 'a\nb\nc\nd')
  })

  test('Control-B says how a command gets to the background while one runs, and moves the cursor in a text', () => {
    const { state } = pressed({ ...START, runningSince: 0 }, '\u0002')
    assert.match(
      renderLiveScreen(state, { width: 120, rows: 24 }, 0).lines.map(lineText).join('\n'),
      /stop it with Esc, and ask for it/,
    )
    assert.equal(pressed({ ...START, runningSince: 0 }, 'ac\u0002b').state.editor.text, 'abc')
  })

  test('Control-C clears, then stops, then leaves when it is pressed twice', () => {
    const working: UiState = { ...pressed(START, 'draft').state, runningSince: 0 }
    const cleared = pressed(working, '\u0003')
    assert.equal(cleared.state.editor.text, '')
    assert.equal(pressed(cleared.state, '\u001F').state.editor.text, 'draft')
    const menu = { items: [{ value: '/mode' }], selected: 0, from: 0, to: 3, enterAction: 'submit' } as const
    assert.equal(pressed({ ...pressed(START, '/mo').state, menu }, '\u0003').state.menu, undefined)
    assert.deepEqual(pressed(cleared.state, '\u0003').deeds, [{ do: 'stop' }])
    assert.deepEqual(pressed(START, '\u0003').deeds, [])
    assert.deepEqual(pressed(START, '\u0003\u0003').deeds, [{ do: 'quit' }])
  })

  test('Esc and Control-C stop the model, and what waits comes back into the input', () => {
    for (const key of ['\u001B', '\u0003']) {
      const { state, deeds } = pressed({ ...START, runningSince: 0, queued: ['one', 'two'] }, key)
      assert.deepEqual([state.editor.text, state.queued, deeds], ['one\ntwo', [], [{ do: 'stop' }]])
    }
    const asking = pressed({ ...START, runningSince: 0, queued: ['one'], approvals: [asked('q')] }, '\u0003')
    assert.deepEqual([asking.state.editor.text, asking.state.queued, asking.deeds], ['one', [], [{ do: 'stop' }]])
  })

  test('Up takes a message that waits out of the queue, and Esc does not double it', () => {
    const working: UiState = { ...START, runningSince: 0 }
    const sent = pressed(working, 'one\r').state
    const up = pressed({ ...sent, queued: ['one'] }, '\u001B[A')
    assert.deepEqual([up.state.editor.text, up.state.queued, up.deeds], ['one', [], []])
    const stopped = pressed(up.state, '\u001B')
    assert.deepEqual([stopped.state.editor.text, stopped.deeds], ['one', [{ do: 'stop' }]])
    assert.deepEqual(pressed(up.state, ' more\r').deeds, [{ do: 'submit', text: 'one more' }])
  })

  test('questions stand in the order of the calls, and one that comes late does not slip under a key', () => {
    const live = ['a', 'b', 'c'].map((id) => {
      const call = { kind: 'call', id, name: 't', raw: '' } as const
      return { kind: 'call', call: { status: 'validating', call }, progress: '', since: 0 } as const
    })
    const working: UiState = { ...START, runningSince: 0, conversation: { ...START.conversation, live } }
    const asking = [asked('b'), asked('c'), asked('a')].reduce(addApprovalRequest, working)
    assert.deepEqual(
      asking.approvals.map(({ id }) => id),
      ['a', 'b', 'c'],
    )
    assert.match(askText(asking), /2 of 3/)
    const [deed] = slowly(asking, 'y').deeds
    assert.ok(deed?.do === 'answer' && deed.ask === 'b', JSON.stringify(deed))
    // The second try of a call in another box is no call of this answer.
    assert.equal(addApprovalRequest(asking, asked('unknown')).approvals.at(-1)?.id, 'unknown')
  })

  test('Space, b, g and G turn the pages of a long question, and a leap counts for nothing', () => {
    const command = Array.from({ length: 60 }, (_unused, at) => `line ${at}`).join('\n')
    const ask = {
      ...asked('q'),
      details: { kind: 'exec', title: '', command, rootCommand: 'x', folder: '/' },
    } as ApprovalRequest
    const long: UiState = { ...START, approvals: [ask], size: { width: 80, rows: 24 } }
    const first = /lines 1–(\d+) of 60/.exec(askText(long))
    assert.ok(Number(first?.[1]) >= 18, `a page is as tall as the terminal allows: ${first?.[0]}`)
    const leapt = slowly(long, 'G')
    assert.match(askText(leapt.state), /–60 of 60/)
    assert.deepEqual(slowly(leapt.state, 'y').deeds, [], 'what was leapt over was not seen')
    assert.match(askText(slowly(leapt.state, 'g').state), /lines 1–/)
    const read = slowly(long, ' ', ' ', ' ', ' ')
    assert.match(askText(read.state), /–60 of 60/)
    assert.deepEqual(slowly(read.state, 'y').deeds, [{ do: 'answer', ask: 'q', outcome: 'proceed-once' }])
    assert.match(askText(slowly(read.state, 'b').state), /lines 2\d–/)
    assert.equal(pressed(long, 'Go on').state.editor.text, 'Go on', 'letters at once are a text')
    const short: UiState = { ...START, approvals: [asked('q')] }
    assert.equal(slowly(short, 'G').state.editor.text, 'G', 'one page has nothing to turn')
  })

  test('up and down go through what was said, and back to nothing', () => {
    const state = { ...START, history: ['first', 'second'] }
    assert.equal(pressed(state, '\u001B[A').state.editor.text, 'second')
    assert.equal(pressed(state, '\u001B[A\u001B[A\u001B[A').state.editor.text, 'first')
    assert.equal(pressed(state, '\u001B[A\u001B[B').state.editor.text, '')
  })

  test('what was being written comes back, as it was, from a look at what was said', () => {
    const state = { ...START, history: ['first', 'second'] }
    const back = pressed(state, 'a draft\u001B[D\u001B[A\u001B[A\u001B[B\u001B[B')
    assert.deepEqual([back.state.editor.text, back.state.editor.cursor], ['a draft', 6])
    assert.deepEqual(pressed(back.state, '\r').deeds, [{ do: 'submit', text: 'a draft' }])
  })

  test('up and down move by the rows on the screen, also within one long line', () => {
    const state = { ...START, size: { width: 23, rows: 24 }, history: ['said'] }
    const long = pressed(state, 'one two three four five six seven eight')
    const up = pressed(long.state, '\u001B[A').state
    assert.equal(up.editor.text, long.state.editor.text)
    // Rows of 20: “one two three four ”, “five six seven eight”; the longest reach of the first is before its last space.
    assert.equal(up.editor.cursor, 18)
    assert.equal(pressed(up, '\u001B[B').state.editor.cursor, 39)
    assert.equal(pressed(up, '\u001B[A').state.editor.text, 'said')
  })

  test('paging through a long question leaves no line out, and stops at its end', () => {
    const command = Array.from({ length: 50 }, (_unused, at) => `line ${at}`).join('\n')
    const ask = {
      ...asked('q'),
      details: { kind: 'exec', title: '', command, rootCommand: 'x', folder: '/' },
    } as ApprovalRequest
    for (const rows of [12, 24, 60]) {
      let state: UiState = { ...START, approvals: [ask], size: { width: 60, rows } }
      const seen = new Set<string>()
      const look = (): void => {
        for (const [one] of askText(state).matchAll(/\bline \d+/g)) seen.add(one)
      }
      look()
      for (let pages = 0; pages < 20; pages++) {
        state = pressed(state, '\u001B[6~').state
        look()
      }
      assert.equal(seen.size, 50, `${rows} rows`)
      const before = askText(state)
      if (rows < 60) assert.notEqual(askText(pressed(state, '\u001B[5~').state), before, 'one key leads back')
    }
  })

  test('question, a part of the command and every key are on the screen, however small it is and long the command', () => {
    const command = Array.from({ length: 40 }, (_unused, at) => `echo a rather long line of this command ${at}`).join(
      '\n',
    )
    const covers = `exactly the command “${command}”`
    const one: ApprovalRequest = {
      ...asked('q', 'exec', covers),
      details: { kind: 'exec', title: '', command, rootCommand: 'x', folder: '/a/folder/that/is/far/away/from/here' },
      decision: { verdict: 'ask', rule: '', why: `No rule allows “${command}”.`, ...granted(covers) },
    }
    const edits = [asked('1', 'edit', 'all'), asked('2', 'edit', 'all'), one]
    const draft = applyEditorEdit(EMPTY_EDITOR, { do: 'insert', text: 'half a sentence\n'.repeat(20) })
    for (const [width, rows] of [
      [80, 24],
      [30, 8],
      [60, 12],
    ] as const)
      for (const editor of [EMPTY_EDITOR, draft])
        for (const asks of [[one], edits]) {
          const asking = { ...INITIAL_APPROVAL_VIEW_STATE, at: asks.length - 1 }
          let state: UiState = {
            ...START,
            approvals: asks,
            approvalView: asking,
            editor,
            isWriting: false,
            size: { width, rows },
          }
          const page = () => renderLiveScreen(state, { width, rows }, 0).lines.map((row) => lineText(row))
          // What a terminal shows of it: its end, and one row stays empty.
          const screen = () => page().slice(1 - rows)
          assert.match(screen().join('\n'), /\? Run/, `${width}×${rows}\n${screen().join('\n')}`)
          assert.match(screen().join('\n'), /│ echo a rather/)
          assert.match(screen().join('\n'), /… lines 1–\d+ of \d+/)
          for (const key of ['y', 'a', 'n', 'Esc']) assert.ok(screen().join('\n').includes(`[${key}]`), key)
          const seen = new Set<string>()
          for (let top = -1; top < state.approvalView.top;) {
            top = state.approvalView.top
            for (const row of screen())
              for (const [, number] of row.matchAll(/[│┆].*?\b(\d+)$/g)) seen.add(number ?? '')
            state = pressed(state, '\u001B[6~').state
          }
          assert.equal(seen.size, 40, 'every line can be reached')
        }
  })

  test('what “always” covers is in a row for each place; what has no room there stands whole above', () => {
    const long = `exactly “one\ntwo ${'x '.repeat(200)}\nlast”`
    const asking: UiState = { ...START, approvals: [asked('q', 'exec', long)] }
    const { state } = pressed(asking, 'a')
    const rows = askText({ ...state, size: { width: 80, rows: 60 } }).split('\n')
    const choices = rows.filter((one) => /^\[[123]\] /.test(one))
    assert.equal(choices.length, 3)
    assert.match(choices[0] ?? '', /^\[1\] always, in this session: exactly “one ⏎ two x .*…[x ]* ⏎ last”$/)
    assert.match(choices[1] ?? '', /^\[2\] always, in this project, permanently: exactly/)
    assert.match(choices[2] ?? '', /^\[3\] always, everywhere, permanently: exactly/)
    for (const row of rows) assert.ok(row.length <= 80)
    assert.ok((rows.join(' ').match(/\bx\b/g) ?? []).length >= 200, 'all of it can be read')
  })

  test('what can stand after a command is offered; Enter takes it, or what was typed where that may be something else', () => {
    const items = [{ value: 'default' }, { value: 'plan' }]
    const at = (text: string, others?: true): UiState => {
      const editor = applyEditorEdit(EMPTY_EDITOR, { do: 'insert', text })
      const words = () => ({ items, ...(others && { allowsOthers: others }) })
      const menu = findCompletions(editor, { commands: () => [], files: () => [], commandArguments: words })
      return { ...START, editor, ...(menu && { menu }) }
    }
    assert.deepEqual(pressed(at('/mode pl'), '\r').deeds, [{ do: 'submit', text: '/mode plan' }])
    assert.deepEqual(pressed(at('/mode pl', true), '\r').deeds, [{ do: 'submit', text: '/mode pl' }])
    assert.deepEqual(pressed(at('/mode ', true), '\u001B[B\r').deeds, [{ do: 'submit', text: '/mode plan' }])
    assert.equal(pressed(at('/mode pl', true), '\t').state.editor.text, '/mode plan ')
    assert.equal(at('/mode nothing').menu, undefined)
  })

  test('what is being written goes on being written when a question comes, until Esc turns to it', () => {
    const typing: UiState = { ...pressed(START, 'please loo').state, approvals: [asked('q', 'exec', 'all')] }
    const more = slowly(typing, 'k', ' ', 'a', 't', ' any')
    assert.deepEqual([more.deeds, more.state.editor.text], [[], 'please look at any'])
    const turned = slowly(more.state, '\u001B', 'y')
    assert.deepEqual(turned.deeds, [{ do: 'answer', ask: 'q', outcome: 'proceed-once' }])
    assert.equal(turned.state.editor.text, 'please look at any')
    assert.deepEqual(slowly(more.state, '\r').deeds, [{ do: 'submit', text: 'please look at any' }])
  })

  test('a text that is typed or pasted while a question waits is kept, and answers nothing', () => {
    const asking: UiState = { ...START, approvals: [asked('q', 'exec', 'all')] }
    for (const text of ['yes please', 'also the tests', 'no, wait', 'ye', 'hello', 'An edit', 'é', 'yy', '1']) {
      const { state, deeds } = pressed(asking, text)
      assert.deepEqual([deeds, state.editor.text, state.approvals.length], [[], text, 1], text)
    }
    const pasted = pressed(asking, '\u001B[200~y\u001B[201~')
    assert.equal(pasted.state.editor.text, 'y')
    assert.deepEqual(
      pasted.deeds.map((deed) => deed.do),
      ['attach-dropped'],
    )
  })

  test('a letter that came before the question was on the screen does not answer it', () => {
    const asking: UiState = { ...START, approvals: [asked('q', 'exec', 'all')] }
    const early = handleKey(asking, { type: 'text', text: 'y' })
    const { actions = [] } = applyHeldKey(markShownLines(early.state))
    assert.deepEqual([actions, early.state.editor.text], [[], 'y'])
    const late = handleKey(markShownLines(asking), { type: 'text', text: 'y' })
    assert.equal(applyHeldKey(late.state).actions?.length, 1)
  })

  test('a letter answers the question that it was typed for, whatever other questions end meanwhile', () => {
    const three: UiState = { ...START, approvals: ['a', 'b', 'c'].map((id) => asked(id)) }
    const onB = markShownLines({ ...three, approvalView: { ...three.approvalView, at: 1 } })
    const typed = handleKey(onB, { type: 'text', text: 'y' }).state
    for (const ended of ['a', 'c', 'of another run']) {
      const { actions = [] } = applyHeldKey(removeApprovalRequest(typed, ended))
      assert.deepEqual(actions, [{ do: 'answer', ask: 'b', outcome: 'proceed-once' }], ended)
    }
    assert.deepEqual(applyHeldKey(removeApprovalRequest(typed, 'b')).actions ?? [], [])
  })

  test('nothing is approved before all of it was on the screen, and the question says so', () => {
    const command = `${'echo a\n'.repeat(120)}touch PWNED`
    const ask: ApprovalRequest = {
      ...asked('q', 'exec', 'all'),
      details: { kind: 'exec', title: '', command, rootCommand: 'x', folder: '/' },
    }
    const PAGE = '\u001B[6~'
    const asking: UiState = { ...START, approvals: [ask], size: { width: 80, rows: 24 } }
    assert.deepEqual(
      handleKey({ ...asking, heldKey: 'y' }, { type: 'key', name: 'enter' }).actions ?? [],
      [],
      'not drawn yet',
    )
    for (const keys of [['y'], ['a', '1'], [PAGE, 'y'], ['\u001B[F', 'y'], ['\u001B[F', '\u001B[H', PAGE, 'y']]) {
      const { state, deeds } = slowly(asking, ...keys)
      assert.deepEqual(deeds, [], keys.join(' '))
      assert.match(
        askText({ ...state, size: { width: 80, rows: 22 } }),
        /read to the end first \(PgDn or Space\), then answer/,
      )
    }
    const whole = slowly(asking, ...Array.from({ length: 10 }, () => PAGE))
    assert.match(askText({ ...whole.state, size: { width: 80, rows: 22 } }), /touch PWNED/)
    assert.deepEqual(slowly(whole.state, 'y').deeds, [{ do: 'answer', ask: 'q', outcome: 'proceed-once' }])
    // After a jump to the end, pages lead through what was skipped.
    const jumped = slowly(asking, '\u001B[F', ...Array.from({ length: 10 }, () => PAGE), 'y')
    assert.deepEqual(jumped.deeds, [{ do: 'answer', ask: 'q', outcome: 'proceed-once' }])
    // Another width makes other lines: what was seen as a whole stays seen, and of the rest it begins anew.
    const wider = { width: 40, rows: 24 }
    assert.equal(slowly({ ...whole.state, size: wider }, 'y').deeds.length, 1)
    assert.equal(slowly({ ...slowly(asking, ...Array(6).fill(PAGE)).state, size: wider }, 'y').deeds.length, 0)
  })

  test('a secret is shown by a key, and nothing is approved before', () => {
    const command = 'TOKEN=abcdefgh12345678ijkl ./deploy'
    const ask: ApprovalRequest = {
      ...asked('q'),
      details: { kind: 'exec', title: '', command, rootCommand: 'x', folder: '/' },
    }
    const first = slowly({ ...START, approvals: [ask] }, 'y')
    assert.deepEqual(first.deeds, [])
    assert.match(askText(first.state), /TOKEN=\[secret\] \.\/deploy[^]*A secret is hidden: press v[^]*\[v\]/)
    const shown = slowly(first.state, 'v')
    assert.match(askText(shown.state), /TOKEN=abcdefgh12345678ijkl \.\/deploy/)
    assert.deepEqual(slowly(shown.state, 'y').deeds, [{ do: 'answer', ask: 'q', outcome: 'proceed-once' }])
  })

  test('“always” is chosen with its place, and is no answer where there is none', () => {
    assert.deepEqual(slowly({ ...START, approvals: [asked('q')] }, 'a').state.editor.text, 'a')
    const asking: UiState = { ...START, approvals: [asked('q', 'exec', 'all')] }
    const { deeds } = slowly(asking, 'a', '2')
    const [grant] = asking.approvals[0]?.decision.grants ?? []
    assert.deepEqual(deeds, [{ do: 'answer', ask: 'q', outcome: 'proceed-always', grant, scope: 'project' }])
    const back = slowly(asking, 'a', '\u001B')
    assert.deepEqual([back.deeds, back.state.approvalView.isChoosing], [[], undefined])
  })

  test('A allows all edits only after each was shown; other questions stay', () => {
    const asks = [asked('1', 'edit'), asked('2', 'edit'), asked('3')]
    const once = slowly({ ...START, approvals: asks }, 'A')
    assert.deepEqual([once.deeds, once.state.approvalView.at], [[], 1])
    assert.deepEqual(
      slowly(once.state, 'A').deeds.map((deed) => deed.do === 'answer' && deed.ask),
      ['1', '2'],
    )
  })

  test('no, with a reason', () => {
    const { deeds } = slowly({ ...START, approvals: [asked('q')] }, 'n', 'too slow\r')
    assert.deepEqual(deeds, [{ do: 'answer', ask: 'q', outcome: 'cancel', words: 'too slow' }])
  })

  test('Esc after a look at what was said does not double a message that waits', () => {
    const state: UiState = { ...START, runningSince: 0, history: ['first', 'second'], queued: ['second'] }
    assert.equal(pressed(state, '\u001B[A\u001B').state.editor.text, 'second')
    assert.equal(pressed(state, 'more\u001B[A\u001B').state.editor.text, 'second\nmore')
  })

  test('a command that was typed in full is the one that is meant', () => {
    const items = [{ value: '/model' }, { value: '/mode' }]
    const editor = applyEditorEdit(EMPTY_EDITOR, { do: 'insert', text: '/mode' })
    const menu = findCompletions(editor, { commands: () => items, files: () => [], commandArguments: () => undefined })
    assert.ok(menu)
    assert.deepEqual(pressed({ ...START, editor, menu }, '\r').deeds, [{ do: 'submit', text: '/mode' }])
  })
})
