import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { base62Hash, hash32, base36Hash } from '../../src/schema/hash.ts'
import {
  ANTHROPIC_TOOL_NAME_RULE,
  GEMINI_TOOL_NAME_RULE,
  generateValidName,
  OPENAI_TOOL_NAME_RULE,
  toLegalToolNames,
} from '../../src/schema/dialect/tool-names.ts'

const RULES = { openai: OPENAI_TOOL_NAME_RULE, anthropic: ANTHROPIC_TOOL_NAME_RULE, gemini: GEMINI_TOOL_NAME_RULE }

describe('generateValidName', () => {
  it('replaces odd characters', () => assert.equal(generateValidName('a b:c/d.e-f_ü'), 'a_b_c_d.e-f__'))
  it('leaves 63 characters', () => assert.equal(generateValidName('x'.repeat(63)), 'x'.repeat(63)))
  it('cuts the middle of more', () => {
    const name = `${'a'.repeat(28)}${'m'.repeat(10)}${'z'.repeat(32)}`
    assert.equal(generateValidName(name), `${'a'.repeat(28)}___${'z'.repeat(32)}`)
  })
})

describe('T145 tool names', () => {
  it('leaves legal names alone, whatever else is there', () => {
    for (const rule of Object.values(RULES)) {
      assert.deepEqual([...toLegalToolNames(['read_file', 'a-b', 'a.b', 'a b'], rule)].slice(0, 2), [
        ['read_file', 'read_file'],
        ['a-b', 'a-b'],
      ])
    }
  })

  it('keeps dots for Gemini only', () => {
    assert.equal(toLegalToolNames(['server.tool'], GEMINI_TOOL_NAME_RULE).get('server.tool'), 'server.tool')
    assert.equal(toLegalToolNames(['server.tool'], OPENAI_TOOL_NAME_RULE).get('server.tool'), 'server_tool')
  })

  it('tells apart what cleaning would make one, whatever the order', () => {
    const names = ['a.b', 'a b', 'a_b', 'c.d']
    const there = toLegalToolNames(names, OPENAI_TOOL_NAME_RULE)
    const back = toLegalToolNames([...names].reverse(), OPENAI_TOOL_NAME_RULE)
    assert.equal(there.get('a_b'), 'a_b')
    assert.match(there.get('a.b') ?? '', /^a_b_[0-9a-z]{6}$/)
    assert.equal(there.get('c.d'), 'c_d')
    for (const name of names) assert.equal(back.get(name), there.get(name))
  })

  it('marks a cut name with a hash of the whole', () => {
    const long = (tail: string): string => `mcp__${'s'.repeat(40)}${tail}__${'t'.repeat(40)}`
    for (const rule of Object.values(RULES)) {
      const [a, b] = toLegalToolNames(
        [long('1'), long('2')].map((name) => name.repeat(2)),
        rule,
      ).values()
      assert.equal(a?.length, rule.maxLength)
      assert.notEqual(a, b)
      assert.match(a ?? '', rule.pattern)
    }
  })

  it('finds a name for what has none', () => {
    assert.match(toLegalToolNames([''], OPENAI_TOOL_NAME_RULE).get('') ?? '', /^tool_[0-9a-z]{6}$/)
    const [a, b] = toLegalToolNames(['日本', '語学'], GEMINI_TOOL_NAME_RULE).values()
    assert.match(a ?? '', /^tool_/)
    assert.notEqual(a, b)
    assert.equal(toLegalToolNames(['1st'], GEMINI_TOOL_NAME_RULE).get('1st'), '_1st')
  })

  for (const [vendor, rule] of Object.entries(RULES)) {
    it(`gives ${vendor} legal and different names for any list`, () => {
      const name = fc.oneof(
        fc.string({ maxLength: 90 }),
        fc.string({ unit: fc.constantFrom('a', '_', '.', ' ', '-', ':'), maxLength: 6 }),
        fc.constantFrom('', 'x'.repeat(200), `${'x'.repeat(199)}y`, '__proto__', 'constructor'),
      )
      fc.assert(
        fc.property(fc.uniqueArray(name, { maxLength: 40 }), (names) => {
          const wire = toLegalToolNames(names, rule)
          assert.deepEqual([...wire.keys()], names)
          assert.equal(new Set(wire.values()).size, names.length)
          for (const legal of wire.values()) assert.ok(rule.pattern.test(legal) && legal.length <= rule.maxLength)
        }),
      )
    })
  }
})

describe('hashes', () => {
  it('are stable', () => {
    assert.deepEqual([hash32('a'), base36Hash('a', 6), base62Hash('a', 12)], [2448022055, 'nwlhhh', 'HmEFFnRkuPZ4'])
  })

  it('have the length and the alphabet they promise', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 40 }), (text, length) => {
        assert.match(base36Hash(text, length), new RegExp(`^[0-9a-z]{${length}}$`))
        assert.match(base62Hash(text, length), new RegExp(`^[0-9A-Za-z]{${length}}$`))
        const number = hash32(text)
        assert.ok(Number.isInteger(number) && number >= 0 && number < 2 ** 32)
      }),
    )
  })

  it('do not meet among a hundred thousand ids', () => {
    const seen = new Set(Array.from({ length: 100_000 }, (_unused, index) => base62Hash(`call_${index}`, 9)))
    assert.equal(seen.size, 100_000)
  })
})
