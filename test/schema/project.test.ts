import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { declareTools } from '../../src/schema/dialect/declare-tools.ts'
import { declare, DIALECTS, sound, tool } from './declare.ts'

describe('project', () => {
  it('gives the same projection for the same list, and the same schema where nothing needs changing', () => {
    const tools = [tool(sound)]
    for (const dialect of DIALECTS) assert.equal(declareTools(tools, dialect), declareTools(tools, dialect))
    for (const dialect of ['gemini-json', 'openai', 'anthropic', 'grammar'] as const) {
      assert.equal(declareTools(tools, dialect).tools[0]?.schema, sound)
    }
  })

  it('passes arguments through untouched where nothing was renamed', () => {
    const args = { path: 'x' }
    for (const dialect of ['gemini-json', 'gemini', 'openai', 'anthropic', 'grammar'] as const) {
      const projection = declareTools([tool(sound)], dialect)
      assert.equal(projection.toToolInput('t', args), args)
      assert.equal(projection.toWireArguments('t', args), args)
      assert.equal(projection.toToolInput('unknown', args), args)
    }
  })

  it('never lets one tool cost the others', () => {
    const circle: JsonObject = { type: 'object' }
    circle['properties'] = { a: circle }
    const throwing = Object.defineProperty({ type: 'object' }, 'properties', {
      enumerable: true,
      get: () => {
        throw new Error('a trap')
      },
    }) as JsonObject
    const tools = [
      tool(sound, 'good'),
      tool({ type: 'string' }, 'scalar'),
      tool(circle, 'circle'),
      tool(throwing, 'trap'),
      tool(sound, 'good'),
      tool(sound, 'last'),
    ]
    for (const dialect of DIALECTS) {
      const projection = declareTools([...tools], dialect)
      assert.deepEqual(
        projection.tools.map(({ originalName }) => originalName),
        ['good', 'last'],
      )
      assert.deepEqual(
        projection.skipped.map(({ name }) => name),
        ['scalar', 'circle', 'trap', 'good'],
      )
      assert.match(projection.skipped[3]?.reason ?? '', /same name/)
      for (const { reason } of projection.skipped) assert.ok(reason.length > 10)
    }
  })

  it('warns of repairs, a few per tool', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20 }, (_unused, index) => [`p${index}`, { properties: {} }]),
    )
    const { warnings } = declareTools([tool({ properties }, 'messy')], 'openai')
    assert.equal(warnings.length, 5)
    for (const warning of warnings) assert.match(warning, /^Tool "messy": /)
  })

  it('T48 keeps prototype keys as ordinary ones', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"enum":[1]},"constructor":{"type":"string"}},"required":["__proto__"]}',
    ) as JsonObject
    const input = JSON.parse('{"__proto__":1,"constructor":"x"}') as JsonObject
    for (const dialect of DIALECTS) {
      const projection = declare(schema, dialect)
      const text = JSON.stringify(projection.tools[0]?.schema)
      assert.match(text, /"__proto__":{/)
      const back = projection.toToolInput('t', projection.toWireArguments('t', input))
      assert.equal(JSON.stringify(back), '{"__proto__":1,"constructor":"x"}')
      assert.equal(Object.getPrototypeOf(back), Object.prototype)
    }
  })

  it('costs far less than a millisecond for a dozen tools', () => {
    const properties = Object.fromEntries(
      'abcdef'.split('').map((name) => [name, { type: 'string', description: name }]),
    )
    const tools = Array.from({ length: 12 }, (_unused, index) => tool({ type: 'object', properties }, `tool_${index}`))
    for (const dialect of DIALECTS) {
      const times = Array.from({ length: 300 }, () => {
        const started = performance.now()
        declareTools([...tools], dialect)
        return performance.now() - started
      })
      // The best of many, since the machine may be busy with other things.
      assert.ok(Math.min(...times) < 1, `${dialect}: ${Math.min(...times)} ms`)
    }
  })
})

describe('T145 names in a projection', () => {
  const tools = [tool(sound, 'server.tool'), tool(sound, 'server tool'), tool(sound, 'plain')]

  it('leads back from every wire name', () => {
    for (const dialect of DIALECTS) {
      const projection = declareTools([...tools], dialect)
      for (const { name, originalName } of projection.tools) {
        assert.equal(projection.toToolName(name), originalName)
        assert.equal(projection.toWireName(originalName), name)
      }
      assert.equal(projection.toToolName('never heard of'), 'never heard of')
    }
  })

  it('gives a tool of the past a legal name that no present tool has', () => {
    const projection = declareTools([tool(sound, 'a.b')], 'openai')
    assert.equal(projection.tools[0]?.name, 'a_b')
    assert.match(projection.toWireName('a_b'), /^a_b_[a-z0-9]{6}$/)
    assert.equal(projection.toWireName('gone tool'), 'gone_tool')
    assert.match(projection.toWireName(''), /^tool_/)
  })
})
