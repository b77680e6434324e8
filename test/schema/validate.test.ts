import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { compileSchema } from '../../src/schema/validate/compile-schema.ts'
import { validate } from '../../src/schema/validate/validate.ts'

const closed = {
  type: 'object',
  properties: { path: { type: 'string' }, limit: { type: 'integer', minimum: 1 } },
  required: ['path'],
  additionalProperties: false,
}

describe('validate', () => {
  const cases: [string, JsonObject, unknown, [string, string, RegExp][]][] = [
    ['a valid value', closed, { path: 'a', limit: 3 }, []],
    ['a missing property', closed, {}, [['', 'required', /lack the required property "path"/]]],
    [
      'a wrong type',
      closed,
      { path: 'a', limit: '3' },
      [['/limit', 'type', /"limit" must be an integer, not a string/]],
    ],
    ['a small number', closed, { path: 'a', limit: 0 }, [['/limit', 'minimum', /at least 1/]]],
    [
      'an extra property',
      closed,
      { path: 'a', pth: 1 },
      [['/pth', 'additionalProperties', /"pth" is not a known property.*"path", "limit"/]],
    ],
    ['no object', closed, 'x', [['', 'type', /must be an object, not a string/]]],
    ['nothing', closed, undefined, [['', 'type', /missing/]]],
    ['a number beyond numbers', closed, { path: 'a', limit: Number('1e999') }, [['/limit', 'type', /finite/]]],
    ['an enum', { enum: ['a', 1] }, 'b', [['', 'enum', /one of "a", 1, not "b"/]]],
    ['a const', { const: { a: 1 } }, { a: 2 }, [['', 'const', /must be {"a":1}/]]],
    [
      'a nullable',
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      3,
      [['', 'anyOf', /a string or null, not a number/]],
    ],
    ['several matches', { oneOf: [{ type: 'number' }, { minimum: 1 }] }, 3, [['', 'oneOf', /exactly one/]]],
    ['a not', { not: { const: 1 } }, 1, [['', 'not', /must not match/]]],
    ['unique items', { uniqueItems: true }, [1, 1], [['', 'uniqueItems', /twice/]]],
    ['contains', { contains: { type: 'string' } }, [1, 2], [['', 'contains', /contain/]]],
    ['a name', { propertyNames: { pattern: '^a' } }, { b: 1 }, [['', 'propertyNames', /names must match/]]],
    [
      'dependents',
      { dependentRequired: { a: ['b'] } },
      { a: 1 },
      [['', 'dependentRequired', /with "a", "b" is required too/]],
    ],
    ['old dependencies', { dependencies: { a: ['b'] } }, { a: 1 }, [['', 'dependentRequired', /with "a"/]]],
    ['a pattern', { pattern: '^a$' }, 'b', [['', 'pattern', /match the pattern "\^a\$"/]]],
    ['a pattern of another dialect', { pattern: '^[\\w-\\.]+\\@x$' }, 'a-b.c@x', []],
    [
      'a tuple of draft 7',
      { items: [{ type: 'string' }], additionalItems: false },
      ['a', 1],
      [['/1', 'items', /not allowed here/]],
    ],
    ['a bound of draft 4', { minimum: 1, exclusiveMinimum: true }, 1, [['', 'exclusiveMinimum', /more than 1/]]],
    ['an upper-case type', { type: 'STRING' }, 'a', []],
    ['nullable of OpenAPI', { type: 'string', nullable: true, enum: ['a'] }, null, []],
    [
      'unevaluated properties',
      { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
      { a: 1, b: 2 },
      [['/b', 'unevaluatedProperties', /not a known property|not allowed/]],
    ],
    [
      'a boolean property',
      { properties: { a: false, b: true } },
      { a: 1, b: 2 },
      [['/a', 'properties', /not (?:allowed|a known)/]],
    ],
    [
      'odd keys',
      { properties: { 'a/b~c d#%': { type: 'string' } } },
      { 'a/b~c d#%': 1 },
      [['/a~1b~0c d#%', 'type', /string/]],
    ],
    [
      'half a surrogate pair',
      { properties: { '\ud800': { type: 'string' } }, required: ['\ud800'] },
      { '\ud800': 1 },
      [['/\ufffd', 'type', /string/]],
    ],
    ['a format, which only remarks', { format: 'email' }, 'not a mail', []],
  ]
  for (const [name, schema, value, expected] of cases) {
    it(`judges ${name}`, () => {
      const problems = validate(schema, value)
      assert.deepEqual(
        problems.map(({ path, keyword }) => [path, keyword]),
        expected.map(([path, keyword]) => [path, keyword]),
      )
      expected.forEach(([, , message], index) => assert.match(problems[index]?.message ?? '', message))
      for (const { message } of problems) assert.match(message, /\.$/)
    })
  }

  it('explains the branch that was meant', () => {
    const circle = {
      type: 'object',
      properties: { kind: { const: 'circle' }, r: { type: 'number' } },
      required: ['kind', 'r'],
    }
    const square = {
      type: 'object',
      properties: { kind: { const: 'square' }, side: { type: 'number' } },
      required: ['kind', 'side'],
    }
    const schema = {
      properties: { shape: { oneOf: [circle, { $ref: '#/$defs/square' }, { type: 'string' }] } },
      $defs: { square },
    }
    const first = (value: unknown): unknown =>
      validate(schema, { shape: value }).map(({ path, message }) => [path, message])
    assert.deepEqual(first({ kind: 'square' }), [['/shape', '"shape" lacks the required property "side".']])
    assert.deepEqual(first({ kind: 'circle', r: 'x' }), [['/shape/r', '"shape.r" must be a number, not a string.']])
    assert.deepEqual(first({ kind: 'line' }), [
      ['/shape/kind', '"shape.kind" must be one of "circle", "square", not "line".'],
    ])
  })

  it('reports at most eight problems, each once', () => {
    const problems = validate(
      { type: 'array', items: { type: 'string' } },
      Array.from({ length: 50 }, () => 1),
    )
    assert.equal(problems.length, 8)
    assert.equal(new Set(problems.map(({ path }) => path)).size, 8)
    assert.equal(validate({ allOf: [{ required: ['a'] }, { required: ['a'] }] }, {}).length, 1)
  })

  it('resolves references of either draft, and cyclic ones', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/definitions/node' }, v: { type: 'number' } } }
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: { a: { $ref: '#/definitions/node' } },
      definitions: { node },
    }
    assert.deepEqual(validate(schema, { a: { next: { next: { v: 1 } } } }), [])
    assert.equal(validate(schema, { a: { next: { next: { v: 'x' } } } })[0]?.path, '/a/next/next/v')
    assert.deepEqual(
      validate(
        {
          $schema: 'http://json-schema.org/draft-07/schema#',
          $ref: '#/definitions/x',
          minimum: 5,
          definitions: { x: { type: 'number' } },
        },
        1,
      ),
      [],
    )
    assert.equal(validate({ $ref: '#/$defs/x', minimum: 5, $defs: { x: { type: 'number' } } }, 1).length, 1)
  })
})

describe('validate with a broken schema', () => {
  const deep: JsonObject = {}
  let at = deep
  for (let i = 0; i < 5000; i++) at = at['items'] = {}
  const laughs: JsonObject = { d60: { type: 'string' } }
  for (let i = 0; i < 60; i++)
    laughs[`d${i}`] = { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }
  const cases: [string, JsonObject, RegExp | undefined][] = [
    ['a bad pattern', { pattern: '(' }, /pattern/],
    ['a pattern that never ends', { pattern: '^(a+)+$' }, /exponential time/],
    ['alternatives that begin alike', { pattern: '^(a|a)*$' }, /exponential time/],
    ['a dead reference', { $ref: '#/x' }, /cannot be resolved/],
    ['a foreign reference', { $ref: 'https://example.com/x.json' }, /cannot be resolved/],
    ['a reference to itself', { $ref: '#' }, /is cyclic/],
    [
      'a circle of references',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } } },
      /is cyclic/,
    ],
    ['an explosion of references', { $ref: '#/$defs/d0', $defs: laughs }, /expands without end/],
    ['a dead reference under not', { not: { $ref: '#/x' } }, /cannot be resolved/],
    ['a dead reference in oneOf', { oneOf: [{ $ref: '#/x' }, { type: 'string' }] }, /cannot be resolved/],
    ['an absurd depth', deep, /too deep/],
    ['an unknown type', { type: 'any' }, /does not exist/],
    [
      'keywords of the wrong kind',
      { required: 'a', properties: [], anyOf: {}, minimum: '1', items: 3, enum: 'x', allOf: [] },
      /wrong type/,
    ],
    ['a property that is no schema', { properties: { a: 'string', b: null, c: 3 } }, /not a schema/],
    ['an invented format', { format: '__proto__' }, undefined],
    ['a bad id', { $id: 'http://[', properties: { a: { $id: '%%%' } } }, undefined],
    ['internal names', { __absolute_ref__: 'x', __absolute_uri__: 'y' }, undefined],
  ]
  for (const [name, schema, problem] of cases) {
    it(`accepts and reports ${name}`, () => {
      for (const value of ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', { a: 'x' }])
        assert.deepEqual(validate(schema, value), [])
      const told = compileSchema(schema).warnings
      if (problem === undefined) assert.deepEqual(told, [])
      else assert.match(told.join('\n'), problem)
    })
  }

  it('never changes the schema', () => {
    const schema = Object.freeze({
      $id: 'x',
      type: 'object',
      properties: Object.freeze({ a: Object.freeze({ $ref: '#' }) }),
    })
    assert.deepEqual(validate(schema, { a: { a: {} } }), [])
    assert.deepEqual(Object.getOwnPropertyNames(schema), ['$id', 'type', 'properties'])
  })

  it('refuses a value that is too deep, and survives a huge one', () => {
    let value: unknown = 1
    for (let i = 0; i < 100_000; i++) value = [value]
    assert.equal(validate({ items: { $ref: '#' } }, value)[0]?.keyword, 'depth')
    const many = Array.from({ length: 200_000 }, () => 1)
    assert.ok(validate({ type: 'object', properties: { a: { items: { type: 'string' } } } }, { a: many }).length > 0)
  })
})

describe('T48 prototype keys', () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"number"},"constructor":{"type":"string"}},"required":["__proto__"],"additionalProperties":false}',
  ) as JsonObject

  it('are ordinary keys of the value', () => {
    assert.deepEqual(validate(schema, JSON.parse('{"__proto__":1,"constructor":"x"}')), [])
    assert.equal(validate(schema, JSON.parse('{"__proto__":"x"}'))[0]?.path, '/__proto__')
    assert.equal(validate(schema, {})[0]?.keyword, 'required')
    assert.equal(
      validate({ properties: { a: {} }, additionalProperties: false }, JSON.parse('{"__proto__":{"polluted":1}}'))
        .length,
      1,
    )
    assert.equal(
      validate({ anyOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, JSON.parse('{"__proto__":1}'))
        .length,
      1,
    )
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  })
})
