import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import { type Folded, securityCases, skipWithoutCases, unfolded } from '../support/security-cases.ts'

interface TerminalCase {
  readonly id: string
  readonly surface: string
  readonly input?: string
  readonly inputParts?: Folded
  readonly inputBase64?: string
  readonly chunks?: readonly string[]
  readonly mustNotContain: readonly string[]
  readonly mustContain: readonly string[]
}

/** Surfaces that the answer of a model is shown like. Masks, folds and frames belong to questions and logs. */
const SHOWN = new Set(['tool-output', 'model-text', 'diff'])

const all = securityCases<TerminalCase>('terminal.json').filter(
  ({ surface, inputBase64 }) => SHOWN.has(surface) && inputBase64 === undefined,
)

function inputOf(one: TerminalCase): string {
  return one.input ?? one.chunks?.join('') ?? unfolded(one.inputParts ?? '')
}

/** Where one text ends and the next begins. */
const border = (at: number) => `\n=====${at}=====\n`

describe('what a model says, on the real standard output', () => {
  test('no breach, no loss; whole and in pieces', { skip: skipWithoutCases }, async (t) => {
    const said = all.map((one, at) => `${border(at)}${inputOf(one)}`).join('')
    const here = await stage([{ say: said, pieces: 400 }])
    const { out, code } = await dragoman(['-p', 'go'], here)
    assert.equal(code, 0)
    const wrong: string[] = []
    for (const [at, one] of all.entries()) {
      const from = out.indexOf(border(at))
      const to = out.indexOf(border(at + 1))
      assert.ok(from >= 0, `${one.id} is not in the output`)
      const shown = out.slice(from, to < 0 ? undefined : to)
      for (const text of one.mustNotContain) if (shown.includes(text)) wrong.push(`${one.id} ${JSON.stringify(text)}`)
      for (const text of one.mustContain)
        if (!shown.includes(text)) wrong.push(`${one.id} lost ${JSON.stringify(text)}`)
    }
    t.diagnostic(`${all.length} texts, ${wrong.length} problems`)
    assert.deepEqual(wrong, [])
  })

  test('JSON forms hold no character that steers a terminal, and lose none', async () => {
    const hostile = 'a\u001b]0;evil\u0007\u009b2J\u202eb\u{E0041}'
    const here = await stage([{ say: hostile }])
    const { out } = await dragoman(['-p', 'go', '-o', 'json'], here)
    assert.match(out, /^[\x20-\x7e\n]*$/)
    assert.equal((JSON.parse(out) as { response: string }).response, hostile)
    const stream = (await dragoman(['-p', 'go', '-o', 'stream-json'], here)).out
    assert.match(stream, /^[\x20-\x7e\n]*$/)
    assert.ok(stream.split('\n').some((line) => line.includes('\\u202e')))
  })
})
