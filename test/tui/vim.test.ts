import assert from 'node:assert/strict'
import { test } from 'node:test'
import { handleKey } from '../../src/cli/tui/input/handle-key.ts'
import { applyEditorEdit } from '../../src/cli/tui/input/text-editor.ts'
import { createUiState, type UiState } from '../../src/cli/tui/ui-state.ts'

const ESCAPE = { type: 'key', name: 'escape' } as const

/** Types keys in normal mode, with the cursor at the bar; `⎋` is the Escape key. Gives the text with the cursor as a bar. */
function type(text: string, keys: string): string {
  const cursor = text.indexOf('|')
  const start = createUiState({ model: 'm', mode: 'default', folder: '/' }, { vim: true })
  const editor = { ...applyEditorEdit(start.editor, { do: 'set', text: text.replace('|', '') }), cursor }
  let state: UiState = { ...start, vim: 'normal', editor }
  for (const key of keys) state = handleKey(state, key === '⎋' ? ESCAPE : { type: 'text', text: key }).state
  return `${state.editor.text.slice(0, state.editor.cursor)}|${state.editor.text.slice(state.editor.cursor)}`
}

const CASES: readonly (readonly [about: string, before: string, keys: string, after: string])[] = [
  ['a count before a motion', '|one two three four', '2w', 'one two |three four'],
  ['counts multiply', '|a b c d e f g', '2d2w', '|e f g'],
  ['delete words', '|one two three', 'd2w', '|three'],
  ['cw leaves the space', '|one two', 'cwnew⎋', 'ne|w two'],
  ['delete lines', 'a\n|b\nc\nd', '2dd', 'a\n|d'],
  ['delete the last line', 'a\n|b', 'dd', 'a|'],
  ['dj takes both lines', '|a\nb\nc', 'dj', '|c'],
  ['copy and paste a line', '|a\nb', 'yyp', 'a\n|a\nb'],
  ['copy a word and paste it', '|one two', 'ywP', 'one |one two'],
  ['find a letter', '|a, b; c', 'f;', 'a, b|; c'],
  ['delete up to a letter', '|say "hi" now', 'dt"', '|"hi" now'],
  ['delete with a letter', '|say "hi" now', 'df"', '|hi" now'],
  ['a letter that is not there', '|abc', 'dfx', '|abc'],
  ['inside quotes', 'say "h|i" now', 'ci"yes⎋', 'say "ye|s" now'],
  ['around brackets', 'f(a, |b) + c', 'da(', 'f| + c'],
  ['inside nested brackets', 'f(g(x), |y)', 'di(', 'f(|)'],
  ['a word', 'one t|wo three', 'daw', 'one |three'],
  ['repeat a deletion', '|one two three four', 'dw..', '|four'],
  ['repeat a change with its text', '|one two', 'cwnew⎋w.', 'new ne|w'],
  ['repeat an insertion', '|ab', 'ix⎋.', '|xxab'],
  ['visual mode by characters', '|abcdef', 'vlld', '|def'],
  ['visual mode by lines', 'a\n|b\nc\nd', 'Vjd', 'a\n|d'],
  ['visual mode with a motion and change', '|one two', 'vec!⎋', '|!two'],
  ['the other end of a selection', 'ab|cd', 'vohd', 'a|d'],
  ['Escape leaves visual mode', '|abc', 'vl⎋x', 'a|c'],
  ['Escape forgets an operator', '|abc', 'd⎋x', '|bc'],
  ['replace and swap the case', '|abc', 'rxl~', 'xB|c'],
  ['join lines', '|a\n  b', 'J', 'a| b'],
  ['undo', '|one two', 'dwu', '|one two'],
  ['x with a count', '|abcdef', '3x', '|def'],
  ['the end of the text', '|a\nb\nc', 'G', 'a\nb\nc|'],
  ['zero is a motion', 'ab|c', '0', '|abc'],
  ['ten is a count', `|${'a '.repeat(12)}`, '10w', `${'a '.repeat(10)}|a a `],
]

for (const [about, before, keys, after] of CASES)
  test(`vim: ${about} (${keys})`, () => {
    assert.equal(type(before, keys), after)
  })

test('vim: random keys never break the input', () => {
  const alphabet = 'hjklwbeWBE0^$gGfFtTdcyiaoOIAxXsSDCYJprvV~.u123"(⎋ q'
  let seed = Number(process.env['DRAGOMAN_SEED'] ?? 1)
  const random = (): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
  for (let round = 0; round < 2000; round++) {
    const keys = Array.from({ length: 30 }, () => alphabet[Math.floor(random() * alphabet.length)]).join('')
    const text = type('say |"hi (x)"\n  two words\n\nend', keys)
    assert.ok(text.includes('|'), `seed ${process.env['DRAGOMAN_SEED'] ?? 1}, keys ${keys}`)
  }
})
