import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isSimplePattern, checkRegexSafety } from '../../src/schema/regex-safety.ts'

describe('usablePattern', () => {
  for (const pattern of [
    '^a+$',
    '^(foo|bar)*$',
    '^(\\d{1,3}\\.){3}\\d{1,3}$',
    '^[a-z]+(-[a-z]+)?$',
    '(?<year>\\d{4})',
    '^(ab)+$',
    '^(?!x).*$',
    '',
  ]) {
    it(`takes ${pattern}`, () => assert.deepEqual(checkRegexSafety(pattern), { source: pattern }))
  }
  for (const pattern of [
    '^(a+)+$',
    '(a*)*',
    '(.*a){20,}',
    '^((ab)*c?)+$',
    '^(a|a)*$',
    '^(.|x)+$',
    '^(?:[a-z]+\\s?)*$',
  ]) {
    it(`does not trust ${pattern}`, () => assert.match(JSON.stringify(checkRegexSafety(pattern)), /exponential time/))
  }
  for (const pattern of ['(', '[z-a]', '(?i)a', 'a**', '\\']) {
    it(`refuses ${pattern}`, () => assert.match(JSON.stringify(checkRegexSafety(pattern)), /not a valid/))
  }

  it('reads what other languages escape', () => {
    const cases: [string, string, string][] = [
      ['^[\\w-\\.]+$', 'a-b.c', 'a b'],
      ['^\\@\\-\\"$', '@-"', 'x'],
      ['(?P<n>a)', 'a', 'b'],
    ]
    for (const [pattern, yes, no] of cases) {
      const usable = checkRegexSafety(pattern)
      assert.ok('source' in usable)
      assert.ok(new RegExp(usable.source, 'u').test(yes))
      assert.ok(!new RegExp(usable.source, 'u').test(no))
    }
  })
})

describe('isSimplePattern', () => {
  const cases: [string, boolean][] = [
    ['^abc$', true],
    ['^[a-z_]{1,64}$', true],
    ['^(a|b)+\\.x?$', true],
    ['^[^/\\]]*$', true],
    ['abc', false],
    ['^abc', false],
    ['^abc\\$', false],
    ['^\\w+$', false],
    ['^[\\d]+$', false],
    ['^(?:a)$', false],
    ['^(?=a)a$', false],
    ['^a{1,101}$', false],
    ['^a{101}$', false],
    ['^a*?$', false],
    ['^a\\b$', false],
    ['^a$|^b$', false],
    ['^a|b$', false],
    ['^($', false],
  ]
  for (const [pattern, simple] of cases)
    it(`says ${String(simple)} to ${pattern}`, () => assert.equal(isSimplePattern(pattern, 100), simple))
})
