import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { findOffsetAtColumn, findRowIndex, layoutRows } from '../../src/cli/tui/input/text-rows.ts'
import { displayWidth } from '../../src/cli/tui/term/display-width.ts'

test('rows break between words; one that is too long breaks where it must', () => {
  const texts = (text: string, room: number) => layoutRows(text, room).map((row) => row.text)
  assert.deepEqual(texts('one two three\nfour', 8), ['one two ', 'three', 'four'])
  assert.deepEqual(texts('abcdefghij kl', 8), ['abcdefgh', 'ij kl'])
  assert.deepEqual(texts('語語語語語', 8), ['語語語語', '語'])
  assert.deepEqual(texts('', 8), [''])
})

test('no character is lost, no row is too wide, and every offset has its place', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '語', '🎉', 'é', '👩‍👩‍👧', 'wörd '), maxLength: 60 })
  fc.assert(
    fc.property(text, fc.integer({ min: 8, max: 30 }), (written, room) => {
      const rows = layoutRows(written, room)
      assert.equal(
        rows.map((row, at) => row.text + (row.continues || at === rows.length - 1 ? '' : '\n')).join(''),
        written,
      )
      for (const row of rows) {
        assert.ok(displayWidth(row.text) <= room, JSON.stringify(row))
        assert.equal(written.slice(row.start, row.start + row.text.length), row.text)
        for (const column of [0, 3, room]) {
          const offset = findOffsetAtColumn(row, column)
          assert.equal(
            rows[findRowIndex(rows, offset)],
            row,
            `column ${column} of ${JSON.stringify(row)} is on another row`,
          )
        }
      }
    }),
  )
})
