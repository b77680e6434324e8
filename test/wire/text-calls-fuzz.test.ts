import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { FORMS, SEED, watch } from './written.ts'

describe('anything at all', () => {
  const pieces = FORMS.flatMap(([, text]) => text.match(/[<＜][^<>＜＞]*[>＞]?|\[[^[\]]*\]|[^<＜[]+/g) ?? [])
  const signs = ['```', '`', '~~~', '\n', '\n\n', ' ', '> ', 'word', '<', '<|', ']<]', 'to=', '}']
  const scraps = [...new Set([...pieces, ...signs, '{"name":"bash","arguments":{}}'])]
  const scrap = fc.constantFrom(...scraps)
  const mixed = fc
    .array(
      fc.oneof({ weight: 6, arbitrary: scrap }, { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) }),
      { maxLength: 14 },
    )
    .map((parts) => parts.join(''))
  const form = fc.constantFrom(...FORMS.map(([, written]) => written))
  const message = fc.oneof(
    mixed,
    fc.tuple(mixed, form, mixed).map((parts) => parts.join('')),
  )
  const how = fc.record({ endedNormally: fc.boolean(), hasNativeCalls: fc.boolean() })
  const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 8 })

  test('comes out the same however it is cut, and byte for byte if it holds no calls', (t) => {
    t.diagnostic(`seed ${SEED}`)
    const property = fc.property(message, how, cuts, (whole, ending, places) => {
      const expected = watch([whole], ending)
      const ends = [...places.map((place) => Math.min(place, whole.length)).sort((a, b) => a - b), whole.length]
      const cut = ends.map((end, i) => whole.slice(i === 0 ? 0 : ends[i - 1], end))
      assert.deepEqual(watch(cut, ending), expected)
      assert.deepEqual(watch(whole.split(''), ending), expected)
      if (expected.calls.length === 0) assert.equal(expected.text, whole)
      else assert.ok(isSubsequence(expected.text, whole) && expected.text === expected.text.trimEnd())
    })
    fc.assert(property, { seed: SEED, numRuns: 2000 })
  })

  test('yields no call without the end of one', (t) => {
    t.diagnostic(`seed ${SEED}`)
    const open = scraps.filter((part) => !/[})]|^[<＜]\s?\/|\/>|\[<\/|\|close\|/.test(part))
    const endless = fc.array(fc.constantFrom(...open), { maxLength: 20 }).map((parts) => parts.join(''))
    const property = fc.property(endless, (whole) => {
      assert.deepEqual([watch([whole]).text, watch([whole]).calls], [whole, []])
    })
    fc.assert(property, { seed: SEED, numRuns: 2000 })
  })

  test('that is plain prose may stand before a call', (t) => {
    t.diagnostic(`seed ${SEED}`)
    const prose = fc.string({ unit: fc.constantFrom(...'aAto=., :;!?()*#-_"\'|/\\\n\té漢'.split('')), maxLength: 60 })
    const property = fc.property(prose, fc.integer({ min: 0, max: FORMS.length - 1 }), (before, index) => {
      const [, written, calls] = FORMS[index] ?? ['', '', []]
      const { text, calls: found } = watch([before, `\n${written}`])
      assert.deepEqual([text, found], [before.trimEnd(), calls])
    })
    fc.assert(property, { seed: SEED, numRuns: 1000 })
  })

  test('as an argument comes out as it went in, or the call is not read', (t) => {
    t.diagnostic(`seed ${SEED}`)
    let read = 0
    // A value that closes its parameter and opens another cannot be told from two parameters.
    const two = /(?:param|arg_value|\|close)[^]*(?:param|arg_key|\|open)|<!\[CDATA/
    const tags = fc.array(scrap, { maxLength: 3 }).map((parts) => parts.join(''))
    const value = fc.oneof(fc.string({ unit: 'binary' }), tags).filter((text) => !two.test(text))
    const property = fc.property(value, fc.constantFrom(...WRITERS), cuts, (command, write, places) => {
      const whole = write(command)
      const [found, ...more] = watch([whole.slice(0, places[0]), whole.slice(places[0] ?? whole.length)]).calls
      if (!found) return
      read++
      assert.deepEqual(more, [])
      assert.deepEqual(JSON.parse(found.raw), { command })
    })
    fc.assert(property, { seed: SEED, numRuns: 2000 })
    assert.ok(read > 1000, `${read} read`)
  })
})

/** Are these characters, white space aside, also in the other text, in this order? */
function isSubsequence(part: string, whole: string): boolean {
  let at = 0
  for (const char of part.replace(/\s/g, '')) {
    at = whole.indexOf(char, at) + 1
    if (at === 0) return false
  }
  return true
}

/** How one argument is written in some dialects. */
const WRITERS: ((command: string) => string)[] = [
  (command) => `<tool_call>\n${JSON.stringify({ name: 'bash', arguments: { command } })}\n</tool_call>`,
  (command) => `<tool_call>\n<function=bash>\n<parameter=command>\n${command}\n</parameter>\n</function>\n</tool_call>`,
  (command) => `<|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>${JSON.stringify({ command })}`,
  (command) =>
    `<｜DSML｜invoke name="bash"><｜DSML｜parameter name="command" string="true">${command}</｜DSML｜parameter></｜DSML｜invoke>`,
  (command) => `<invoke name="bash"><parameter name="command">${command}</parameter></invoke>`,
  (command) => `<|channel|>commentary to=functions.bash<|message|>${JSON.stringify({ command })}<|call|>`,
  (command) => `[TOOL_CALLS]bash${JSON.stringify({ command })}`,
  (command) => `<|tool_call>call:bash{command:<|"|>${command}<|"|>}<tool_call|>`,
  (command) => `<tool_call>bash<arg_key>command</arg_key><arg_value>${command}</arg_value></tool_call>`,
  (command) => `<|tool_call_start|>[bash(command=${JSON.stringify(command)})]<|tool_call_end|>`,
  (command) => `[bash(command=${JSON.stringify(command)})]`,
  (command) => JSON.stringify({ name: 'bash', arguments: { command } }),
  (command) => `<|tools_prefix|>[${JSON.stringify({ bash: { command } })}]<|tools_suffix|>`,
  (command) => `<response>${JSON.stringify({ name: 'bash', parameters: { command } })}</response>`,
  (command) => `<function name="bash"><param name="command">${command}</param></function>`,
  (command) =>
    `<|open|>call tool="bash"<|sep|><|open|>argument key="command" type="string"<|sep|>${command}<|close|>argument<|sep|><|close|>call<|sep|>`,
]
