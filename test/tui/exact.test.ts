import assert from 'node:assert/strict'
import { test } from 'node:test'
import { layoutExactRows } from '../../src/cli/tui/term/exact-rows.ts'
import { lineWidth, lineText } from '../../src/cli/tui/term/styled-line.ts'

const look = { first: [{ text: '│ ' }], next: [{ text: '┆ ' }] }

function rows(text: string, width: number): string[] {
  const lines = layoutExactRows(text, { ...look, width })
  for (const one of lines) assert.ok(lineWidth(one) <= Math.max(width, 6), lineText(one))
  return lines.map((one) => lineText(one))
}

/** What a person reads from the rows. */
function read(shown: readonly string[]): string {
  return shown
    .map((row) => row.slice(2))
    .join('')
    .replaceAll('␣', ' ')
    .replaceAll('⇥   ', '\t')
}

test('blanks at a break and at the end are seen, and so is a tab', () => {
  assert.deepEqual(rows('rm -rf ./ build', 11), ['│ rm -rf ./', '┆ ␣build'])
  assert.deepEqual(rows('rm -rf ./build', 11), ['│ rm -rf␣', '┆ ./build'])
  assert.deepEqual(rows('a \\ ', 20), ['│ a \\␣'])
  assert.deepEqual(rows('\tx', 20), ['│ ⇥   x'])
  assert.deepEqual(rows('', 20), ['│ '])
})

test('a text can be told from its rows, whatever it is: two that differ never look the same', () => {
  const pieces = ['a', ' ', '  ', 'word', '\t', '語', 'x'.repeat(9), ';', '👍🏽']
  let seed = Number(process.env['DRAGOMAN_SEED'] ?? 1)
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: random(40) }, () => pieces[random(pieces.length)] ?? '').join('')
    assert.equal(read(rows(text, 6 + random(30))), text)
  }
})
