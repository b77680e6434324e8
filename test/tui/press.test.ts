import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Ask } from '../../src/agent/call-state.ts'
import { completions } from '../../src/cli/tui/complete.ts'
import { edit, EMPTY } from '../../src/cli/tui/input/editor.ts'
import { type Deed, press } from '../../src/cli/tui/input/press.ts'
import { startState, type State } from '../../src/cli/tui/state.ts'
import { type Key, keyReader } from '../../src/cli/tui/term/keys.ts'
import { plain } from '../../src/cli/tui/term/line.ts'
import { askLines } from '../../src/cli/tui/view/ask.ts'
import { frame } from '../../src/cli/tui/view/frame.ts'

const START = startState({ model: 'm', mode: 'default', folder: '~' })

const asked = (id: string, kind: 'edit' | 'exec' = 'exec', covers?: string): Ask => ({
  id,
  call: id,
  tool: 't',
  details:
    kind === 'exec'
      ? { kind, title: '', command: 'x', rootCommand: 'x', folder: '/' }
      : { kind, title: '', fileName: 'f', filePath: '/f', fileDiff: '', originalContent: '', newContent: '' },
  decision: { verdict: 'ask', rule: '', why: '', ...(covers !== undefined && { covers }) },
})

/** A question as it is shown. */
function askText({ asks, asking, size = { width: 80, rows: 24 } }: State): string {
  return askLines(asks, asking, size).lines.map(plain).join('\n')
}

/** Presses what a terminal would send, all at one moment. */
function pressed(state: State, sent: string, now = 0): { state: State; deeds: Deed[] } {
  const reader = keyReader()
  const deeds: Deed[] = []
  let next = state
  const keys = sent.split('').flatMap((one): Key[] => reader.read(one))
  for (const key of [...keys, ...reader.flush()]) {
    const done = press(next, key, now)
    next = done.state
    deeds.push(...(done.deeds ?? []).filter((deed) => deed.do !== 'complete'))
  }
  return { state: next, deeds }
}

describe('what a key does', () => {
  test('Enter sends; a backslash, Alt and Shift make a new line instead', () => {
    assert.deepEqual(pressed(START, 'hello\r').deeds, [{ do: 'say', text: 'hello' }])
    assert.equal(pressed(START, 'a\\\rb\u001B\rc\u001B[13;2ud').state.editor.text, 'a\nb\nc\nd')
  })

  test('Control-C clears, then stops, then leaves when it is pressed twice', () => {
    const working: State = { ...pressed(START, 'draft').state, running: 0 }
    const cleared = pressed(working, '\u0003')
    assert.equal(cleared.state.editor.text, '')
    assert.equal(pressed(cleared.state, '\u001F').state.editor.text, 'draft')
    const menu = { items: [{ value: '/mode' }], at: 0, from: 0, to: 3, enter: 'sends' } as const
    assert.equal(pressed({ ...pressed(START, '/mo').state, menu }, '\u0003').state.menu, undefined)
    assert.deepEqual(pressed(cleared.state, '\u0003').deeds, [{ do: 'stop' }])
    assert.deepEqual(pressed(START, '\u0003').deeds, [])
    assert.deepEqual(pressed(START, '\u0003\u0003').deeds, [{ do: 'quit' }])
  })

  test('Esc takes back what waits, and stops only after that', () => {
    const { state, deeds } = pressed({ ...START, running: 0, queued: ['one', 'two'] }, '\u001B')
    assert.deepEqual([state.editor.text, state.queued, deeds], ['one\ntwo', [], []])
    assert.deepEqual(pressed(state, '\u001B').deeds, [{ do: 'stop' }])
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
    assert.deepEqual(pressed(back.state, '\r').deeds, [{ do: 'say', text: 'a draft' }])
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
    const ask = { ...asked('q'), details: { kind: 'exec', title: '', command, rootCommand: 'x', folder: '/' } } as Ask
    for (const rows of [12, 24, 60]) {
      let state: State = { ...START, asks: [ask], size: { width: 60, rows } }
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
    const one: Ask = {
      ...asked('q', 'exec', covers),
      details: { kind: 'exec', title: '', command, rootCommand: 'x', folder: '/a/folder/that/is/far/away/from/here' },
      decision: { verdict: 'ask', rule: '', why: `No rule allows “${command}”.`, covers },
    }
    const edits = [asked('1', 'edit', 'all'), asked('2', 'edit', 'all'), one]
    const draft = edit(EMPTY, { do: 'insert', text: 'half a sentence\n'.repeat(20) })
    for (const [width, rows] of [
      [80, 24],
      [30, 8],
      [60, 12],
    ] as const)
      for (const editor of [EMPTY, draft])
        for (const asks of [[one], edits]) {
          const asking = { at: asks.length - 1, seen: [], top: 0 }
          let state: State = { ...START, asks, asking, editor, size: { width, rows } }
          const page = () => frame(state, { width, rows }, 0).lines.map((row) => plain(row))
          // What a terminal shows of it: its end, and one row stays empty.
          const screen = () => page().slice(1 - rows)
          assert.match(screen().join('\n'), /\? Run/, `${width}×${rows}\n${screen().join('\n')}`)
          assert.match(screen().join('\n'), /│ echo a rather/)
          assert.match(screen().join('\n'), /… lines 1–\d+ of \d+/)
          for (const key of ['y', 'a', 'f', 'n', 'Esc']) assert.ok(screen().join('\n').includes(`[${key}]`), key)
          const seen = new Set<string>()
          for (let top = -1; top < state.asking.top;) {
            top = state.asking.top
            for (const row of screen()) for (const [, number] of row.matchAll(/│.*?\b(\d+)$/g)) seen.add(number ?? '')
            state = pressed(state, '\u001B[6~').state
          }
          assert.equal(seen.size, 40, 'every line can be reached')
        }
  })

  test('what “always” covers is in one row: line ends can be seen, and the middle gives way', () => {
    const state: State = { ...START, asks: [asked('q', 'exec', `exactly “one\ntwo ${'x '.repeat(200)}\nlast”`)] }
    const row = askText(state)
      .split('\n')
      .filter((one) => one.includes('always'))
    assert.equal(row.length, 1)
    assert.match(row[0] ?? '', /\[a\] always: exactly “one ⏎ two x .*…[x ]* ⏎ last”/)
    assert.ok((row[0]?.length ?? 0) <= 80)
  })

  test('what can stand after a command is offered; Enter takes it, or what was typed where that may be something else', () => {
    const items = [{ value: 'default' }, { value: 'plan' }]
    const at = (text: string, others?: true): State => {
      const editor = edit(EMPTY, { do: 'insert', text })
      const words = () => ({ items, ...(others && { others }) })
      const menu = completions(editor, { commands: () => [], files: () => [], words })
      return { ...START, editor, ...(menu && { menu }) }
    }
    assert.deepEqual(pressed(at('/mode pl'), '\r').deeds, [{ do: 'say', text: '/mode plan' }])
    assert.deepEqual(pressed(at('/mode pl', true), '\r').deeds, [{ do: 'say', text: '/mode pl' }])
    assert.deepEqual(pressed(at('/mode ', true), '\u001B[B\r').deeds, [{ do: 'say', text: '/mode plan' }])
    assert.equal(pressed(at('/mode pl', true), '\t').state.editor.text, '/mode plan ')
    assert.equal(at('/mode nothing').menu, undefined)
  })

  test('a letter that was meant for the input is no answer to a question that has just come up', () => {
    const typing: State = { ...pressed(START, 'please loo', 1000).state, asks: [asked('q', 'exec', 'all')] }
    const soon = pressed(typing, 'k at any', 1200)
    assert.deepEqual(soon.deeds, [])
    assert.equal(soon.state.editor.text, 'please look at any')
    assert.deepEqual(pressed(soon.state, 'y', 5000).deeds, [{ do: 'answer', ask: 'q', outcome: 'proceed-once' }])
  })

  test('“always” is no answer where there is none', () => {
    assert.deepEqual(pressed({ ...START, asks: [asked('q')] }, 'af').deeds, [])
    assert.equal(pressed({ ...START, asks: [asked('q', 'exec', 'all')] }, 'a').deeds.length, 1)
  })

  test('A allows all edits only after each was looked at; other questions stay', () => {
    const asks = [asked('1', 'edit'), asked('2', 'edit'), asked('3')]
    const once = pressed({ ...START, asks }, 'A')
    assert.deepEqual([once.deeds, once.state.asking.at], [[], 1])
    assert.deepEqual(
      pressed(once.state, 'A').deeds.map((deed) => deed.do === 'answer' && deed.ask),
      ['1', '2'],
    )
  })

  test('no, with a reason', () => {
    const { deeds } = pressed({ ...START, asks: [asked('q')] }, 'ntoo slow\r')
    assert.deepEqual(deeds, [{ do: 'answer', ask: 'q', outcome: 'cancel', words: 'too slow' }])
  })

  test('a command that was typed in full is the one that is meant', () => {
    const items = [{ value: '/model' }, { value: '/mode' }]
    const editor = edit(EMPTY, { do: 'insert', text: '/mode' })
    const menu = completions(editor, { commands: () => items, files: () => [], words: () => undefined })
    assert.ok(menu)
    assert.deepEqual(pressed({ ...START, editor, menu }, '\r').deeds, [{ do: 'say', text: '/mode' }])
  })
})
