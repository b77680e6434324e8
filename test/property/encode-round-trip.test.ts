import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { declareTools } from '../../src/schema/dialect/declare-tools.ts'
import { type Case, cases, wires } from '../support/cases.ts'
import { meaningOf, meaningRead } from '../support/meaning.ts'
import { runs } from '../support/runs.ts'
import { WIRES } from '../support/seals.ts'

/** Only these wires tell a failure from an answer. */
const TELLS_FAILURES = new Set(['gemini', 'interactions', 'code-assist', 'anthropic'])

describe('what was said, called and answered is what a body says', () => {
  const { seed, options } = runs(1000)
  for (const wire of WIRES) {
    it(wire, () => {
      const { profile } = wires[wire]
      fc.assert(
        fc.property(cases(wire, seed), ({ request }: Case) => {
          const meant = meaningOf(request.turns, declareTools(request.tools, profile.dialect))
          const { body } = wires[wire].encodeRequest(request, profile)
          const said = meaningRead(wires[wire].readRequest(JSON.parse(JSON.stringify(body))).request)
          const names = ({ name, args }: { name: string; args: string }) => `${name} ${args}`
          assert.deepEqual(said.calls.map(names), meant.calls.map(names))
          assert.deepEqual(said.ids[1], said.ids[0])
          for (const [at, call] of meant.calls.entries()) {
            const answer = said.calls[at]?.answer?.join('\n') ?? ''
            assert.ok(holds(answer, call.answer ?? ['did not run']), `${answer} lacks ${call.answer?.join(' | ')}`)
            if (TELLS_FAILURES.has(wire)) assert.equal(said.calls[at]?.failed, call.failed)
          }
          assert.equal(said.pictures, meant.pictures)
          const words = said.said.join('\n')
          assert.ok(holds(words, meant.said), `${JSON.stringify(words)} lacks ${JSON.stringify(meant.said)}`)
        }),
        options,
      )
    })
  }
})

/** Does the text hold these pieces, in this order? */
function holds(text: string, pieces: readonly string[]): boolean {
  let from = 0
  return pieces.every((piece) => {
    const at = text.indexOf(piece, from)
    from = at + piece.length
    return at >= 0
  })
}
