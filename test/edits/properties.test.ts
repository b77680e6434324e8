import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findExactOffsets } from '../../src/tool/edit/match/find-matches.ts'
import { applySmartEdit } from '../../src/tool/edit/apply-smart-edit.ts'
import { type Random, startRandom } from '../support/mutate-random.ts'
import { workspace } from '../tool/workspace.ts'
import { attemptsOn } from './attempt.ts'
import { ownEdits } from './own-edits.ts'

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? Date.now() % 1_000_000)

describe(`what holds for every edit, seed ${SEED}`, () => {
  test('an exact, unique match is always made, and all other bytes stay', async () => {
    using ws = workspace()
    for (let round = 0; round < 400; round++) {
      const random = startRandom(SEED, round)
      const { text, old } = exactMatch(random)
      const fresh = random.chance(0.1) ? '' : randomLines(random, random.range(1, 4))
      if (fresh === old) continue
      const at = text.indexOf(old)
      const [before, after] = [text.slice(0, at), text.slice(at + old.length)]
      const edited = applySmartEdit(text, { old, replacement: fresh })
      const about = `round ${round}: ${JSON.stringify({ text, old, fresh, edited })}`
      assert.ok('text' in edited && edited.strategy === 'exact', about)
      // The indentation before the match may be part of the new text already, and whole lines keep the end of the last one.
      const starts = [before, before.replace(/[ \t]+$/, '')]
      const expected = starts.flatMap((start) => ['', '\n'].map((end) => start + fresh + end + after))
      assert.ok(expected.includes(edited.text), about)
      if (round % 8 !== 0) continue
      // The same through the tool, in a file that has other line ends and a byte order mark.
      const inFile = (one: string): string => `\uFEFF${one.replaceAll('\n', '\r\n')}`
      ws.file('file', inFile(text))
      const input = { file_path: 'file', instruction: 'Change it.', old_string: old, new_string: fresh }
      const { error } = await ws.call('smart_edit', input, {
        seenFiles: { setHash: () => undefined, getHash: () => undefined },
      })
      assert.equal(error, undefined, about)
      // The tool leaves the end of the file as it was.
      assert.equal(ws.read('file').replace(/(?:\r\n)+$/, ''), inFile(edited.text.replace(/\n+$/, '')), about)
      assert.equal(ws.read('file').endsWith('\n'), text.endsWith('\n'), about)
    }
  })

  test('no line outside of the place that an edit names is changed, however the search text is damaged', () => {
    let made = 0
    for (const edit of ownEdits(SEED, 60)) {
      for (const { kind, old, fresh } of attemptsOn(edit, SEED)) {
        const [from, to] = [old, fresh].map((text) => text.replaceAll('\r\n', '\n'))
        const edited = applySmartEdit(edit.before, { old: from ?? '', replacement: to ?? '' })
        if (!('text' in edited)) continue
        made++
        const [was, is] = [edit.before.split('\n'), edited.text.split('\n')]
        // Blank lines at the edges of the search text belong to the place.
        const above = withoutBlankEnd(was.slice(0, edited.first - 1))
        const below = withoutBlankEnd(was.slice(edited.last).reverse())
        const about = `${kind}, ${edit.name}\n--- old\n${old}\n--- new\n${fresh}`
        assert.deepEqual(is.slice(0, above.length), above, about)
        assert.deepEqual(is.toReversed().slice(0, below.length), below, about)
      }
    }
    assert.ok(made > 200, `${made} edits were made`)
  })
})

/** A text, and a part of it that stands there once. */
function exactMatch(random: Random): { text: string; old: string } {
  for (;;) {
    const text = randomLines(random, random.range(2, 12)) + (random.chance(0.7) ? '\n' : '')
    const at = random.below(text.length)
    const old = text.slice(at, at + random.range(1, 60))
    if (old.trim() !== '' && findExactOffsets(text, old).length === 1) return { text, old }
  }
}

/** Lines that are much alike, so that nearly every way to look for one finds another as well. */
function randomLines(random: Random, count: number): string {
  const words = ['value', 'a(1)', 'a( 1 )', '{', '}', '"x"', "'x'", 'return', '// note', '* item', 'const']
  return Array.from({ length: count }, () => {
    if (random.chance(0.15)) return random.pick(['', '', '  '])
    const indent = random.pick(['', '  ', '    ', '\t'])
    return indent + Array.from({ length: random.range(1, 3) }, () => random.pick(words)).join(' ')
  }).join('\n')
}

function withoutBlankEnd(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1)
}
