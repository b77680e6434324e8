import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fillText } from '../../src/rehearsal/fill.ts'
import { readScript, SCRIPT_SCHEMA } from '../../src/rehearsal/script-schema.ts'
import { type Script, stepAt } from '../../src/rehearsal/script.ts'
import { SCRIPTS } from '../../src/rehearsal/scripts/scripts.ts'
import { schemaProblems } from '../../src/schema/validate.ts'

describe('positions', () => {
  const steps: Script['steps'] = [
    { say: 'first' },
    { when: { user: 'help' }, say: 'aside' },
    { say: 'twice', repeat: 2 },
    { loop: [{ say: 'a' }, { loop: [{ say: 'b' }], times: 2 }, { when: { user: 'x' } }], times: 1000 },
    { say: 'last' },
  ]
  const at = (position: number) => stepAt(steps, position)

  test('steps with conditions have no place', () => {
    assert.deepEqual(
      [0, 1, 2, 3, 4, 5, 6, 3002, 3003, 3004].map((position) => at(position)?.step.say),
      ['first', 'twice', 'twice', 'a', 'b', 'b', 'a', 'b', 'last', undefined],
    )
  })

  test('the round is counted', () => {
    assert.deepEqual(
      [1, 2, 3, 6].map((position) => at(position)?.round),
      [0, 1, 0, 1],
    )
  })

  test('a loop without an end', () => {
    assert.equal(stepAt([{ loop: [{ say: 'on' }] }], 1e9)?.round, 1e9)
    assert.equal(stepAt([{ loop: [] }], 0), undefined)
  })
})

describe('a script that somebody wrote', () => {
  test('the ones that come with it are scripts', () => {
    assert.deepEqual(schemaProblems(SCRIPT_SCHEMA), [])
    for (const script of Object.values(SCRIPTS))
      assert.deepEqual(readScript(JSON.parse(JSON.stringify(script))), script)
  })

  const wrong: [what: string, script: unknown, says: RegExp][] = [
    ['no steps', {}, /steps/],
    ['a key that nobody knows', { steps: [{ sya: 'x' }] }, /sya/],
    ['a misbehaviour that nobody knows', { steps: [{ misbehave: ['explode'] }] }, /misbehave/],
    ['a call without a name', { steps: [{ call: [{ args: {} }] }] }, /name/],
    ['a wrong key inside a loop', { steps: [{ loop: [{ says: 'x' }], times: 3 }] }, /says/],
    ['no object', [], /object/],
  ]
  for (const [what, script, says] of wrong) {
    test(what, () => {
      assert.throws(
        () => readScript(script),
        (error: Error) => {
          assert.match(error.message, /^This is not a script: /)
          assert.match(error.message, says)
          return true
        },
      )
    })
  }
})

test('values stand in text, and code keeps its braces', () => {
  const values = { cwd: '/home', n: '3' }
  assert.equal(fillText('{cwd}/{n}.txt {other} {{cwd}} ${n} { n } {}', values), '/home/3.txt {other} {cwd} $3 { n } {}')
})
