import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fillTemplate } from '../../src/rehearsal/script/fill-template.ts'
import { parseRehearsalScript, REHEARSAL_SCRIPT_SCHEMA } from '../../src/rehearsal/script/script-schema.ts'
import { type RehearsalScript, findStepAt } from '../../src/rehearsal/script/script.ts'
import { BUILTIN_SCRIPTS } from '../../src/rehearsal/builtin-scripts/all-scripts.ts'
import { compileSchema } from '../../src/schema/validate/compile-schema.ts'

describe('positions', () => {
  const steps: RehearsalScript['steps'] = [
    { say: 'first' },
    { when: { user: 'help' }, say: 'aside' },
    { say: 'twice', repeat: 2 },
    { loop: [{ say: 'a' }, { loop: [{ say: 'b' }], times: 2 }, { when: { user: 'x' } }], times: 1000 },
    { say: 'last' },
  ]
  const at = (position: number) => findStepAt(steps, position)

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
    assert.equal(findStepAt([{ loop: [{ say: 'on' }] }], 1e9)?.round, 1e9)
    assert.equal(findStepAt([{ loop: [] }], 0), undefined)
  })
})

describe('a script that somebody wrote', () => {
  test('the ones that come with it are scripts', () => {
    assert.deepEqual(compileSchema(REHEARSAL_SCRIPT_SCHEMA).warnings, [])
    for (const script of Object.values(BUILTIN_SCRIPTS))
      assert.deepEqual(parseRehearsalScript(JSON.parse(JSON.stringify(script))), script)
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
        () => parseRehearsalScript(script),
        (error: Error) => {
          assert.match(error.message, /^Invalid script: /)
          assert.match(error.message, says)
          return true
        },
      )
    })
  }
})

test('values stand in text, and code keeps its braces', () => {
  const values = { cwd: '/home', n: '3' }
  assert.equal(
    fillTemplate('{cwd}/{n}.txt {other} {{cwd}} ${n} { n } {}', values),
    '/home/3.txt {other} {cwd} $3 { n } {}',
  )
})
