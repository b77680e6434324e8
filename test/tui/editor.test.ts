import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import {
  type EditorEdit,
  applyEditorEdit,
  type EditorState,
  EMPTY_EDITOR,
  type CursorMotion,
  expandPastes,
} from '../../src/cli/tui/input/text-editor.ts'
import { splitGlyphs } from '../../src/cli/tui/term/display-width.ts'

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)

const MOTIONS: readonly CursorMotion[] = [
  ...(['left', 'right', 'up', 'down', 'word-left', 'word-right', 'word-end'] as const),
  ...(['line-start', 'line-end', 'text-start', 'text-end', 'indent', 'line'] as const),
]
const motion = fc.constantFrom(...MOTIONS)
const text = fc.constantFrom('a', 'word', ' ', '\n', '語', '👩‍👩‍👧', 'é', '  two words', '-', 'x\ny')
const change: fc.Arbitrary<EditorEdit> = fc.oneof(
  text.map((one): EditorEdit => ({ do: 'insert', text: one })),
  text.map((one): EditorEdit => ({ do: 'insert', text: one, paste: true })),
  motion.map((to): EditorEdit => ({ do: 'move', to })),
  motion.map((to): EditorEdit => ({ do: 'remove', to })),
  motion.map((to): EditorEdit => ({ do: 'cut', to })),
  fc.constantFrom<EditorEdit>(
    { do: 'yank' },
    { do: 'undo' },
    { do: 'redo' },
    { do: 'swap' },
    { do: 'set', text: 'set 語' },
  ),
)

const told = (changes: readonly EditorEdit[]): EditorState => changes.reduce(applyEditorEdit, EMPTY_EDITOR)

describe('the text that is being written', () => {
  test('has its cursor between two characters, whatever is done to it', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const editor = told(changes)
        const edges = new Set([0])
        let at = 0
        for (const cell of splitGlyphs(editor.text)) edges.add((at += cell.text.length))
        assert.ok(edges.has(editor.cursor), `${editor.cursor} in ${JSON.stringify(editor.text)}`)
      }),
      { numRuns: 1000, seed: SEED },
    )
  })

  test('goes back step by step to nothing, and forth again to what it was', () => {
    fc.assert(
      fc.property(
        fc.array(
          change.filter((one) => one.do !== 'undo' && one.do !== 'redo'),
          { maxLength: 30 },
        ),
        (changes) => {
          const end = told(changes)
          let editor = end
          const steps = end.past.length
          for (let step = 0; step < steps; step++) editor = applyEditorEdit(editor, { do: 'undo' })
          assert.equal(editor.text, '')
          for (let step = 0; step < steps; step++) editor = applyEditorEdit(editor, { do: 'redo' })
          assert.equal(editor.text, end.text)
        },
      ),
      { numRuns: 500, seed: SEED },
    )
  })

  test('a long paste is a mark, and the whole text when it is sent', () => {
    const long = Array.from({ length: 30 }, (_unused, at) => `line ${at} $& $1`).join('\n')
    const editor = told([
      { do: 'insert', text: 'look: ' },
      { do: 'insert', text: long, paste: true },
    ])
    assert.equal(editor.text, 'look: [paste 1: 30 lines]')
    assert.equal(expandPastes(editor), `look: ${long}`)
  })
})
