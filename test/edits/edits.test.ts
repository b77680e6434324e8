import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { workspace } from '../tool/workspace.ts'
import { asksForAnother, attempt, type Attempt, attemptsOn, KIND_NAMES } from './attempt.ts'
import { ownEdits } from './own-edits.ts'
import { startTally } from './tally.ts'

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)

describe(`edits of our own files with a damaged search text, seed ${SEED}`, () => {
  const tally = startTally()

  test('none is made wrongly', { timeout: 600_000 }, async () => {
    using ws = workspace()
    const wrong: Attempt[] = []
    for (const edit of ownEdits(SEED, 120)) {
      for (const one of attemptsOn(edit, SEED)) {
        if (asksForAnother(one)) continue
        const verdict = await attempt(ws, 'smart_edit', one)
        tally.add(one, verdict)
        if (verdict === 'wrong') wrong.push(one)
      }
    }
    const [first] = wrong
    const about = first && `${first.kind}, ${first.edit.name}\n--- old\n${first.old}\n--- new\n${first.fresh}`
    assert.equal(wrong.length, 0, about)
    assert.ok(tally.all.right + tally.all.refused > 800, JSON.stringify(tally.all))
  })

  test('most are made', () => {
    const shareOf = (kind: string): number => tally.of(kind).right / (tally.of(kind).right + tally.of(kind).refused)
    for (const kind of KIND_NAMES) assert.ok(shareOf(kind) > 0.15, `${kind}: ${JSON.stringify(tally.of(kind))}`)
    for (const kind of ['no damage', 'other line ends']) assert.ok(shareOf(kind) > 0.9, kind)
    for (const kind of ['tabs and spaces', 'space at line ends', 'indentation shifted']) {
      assert.ok(shareOf(kind) > 0.6, `${kind}: ${JSON.stringify(tally.of(kind))}`)
    }
  })
})
