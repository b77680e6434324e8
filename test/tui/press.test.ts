import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Ask } from '../../src/agent/call-state.ts'
import { completions } from '../../src/cli/tui/complete.ts'
import { edit, EMPTY } from '../../src/cli/tui/input/editor.ts'
import { type Deed, press } from '../../src/cli/tui/input/press.ts'
import { startState, type State } from '../../src/cli/tui/state.ts'
import { type Key, keyReader } from '../../src/cli/tui/term/keys.ts'

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
    const menu = completions(editor, { commands: () => items, files: () => [] })
    assert.ok(menu)
    assert.deepEqual(pressed({ ...START, editor, menu }, '\r').deeds, [{ do: 'say', text: '/mode' }])
  })
})
