import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import { agent, type InferSchema, mcp, type Tool, tool, toolOutput } from '../../src/index.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import { root } from '../support/paths.ts'
import { modelOn, rehearse } from '../support/stage.ts'

const servers: RehearsalServer[] = []
after(async () => {
  for (const server of servers) await server.close()
})

/** What the model gets as the result of a call. */
async function resultOf(one: Tool, args: Record<string, unknown>, approve?: () => boolean): Promise<string> {
  const server = await rehearse([{ call: [{ name: one.spec.name, args: args as never }] }, { say: 'Done.' }])
  servers.push(server)
  const helper = agent({ model: modelOn('openai-chat', server), tools: [one], ...(approve && { onApproval: approve }) })
  assert.equal((await helper.run('go')).text, 'Done.')
  await helper.close()
  const { messages } = JSON.parse(server.requests[1]?.bytes.toString() ?? '{}') as {
    messages: { role: string; content: string }[]
  }
  return messages.findLast(({ role }) => role === 'tool')?.content ?? ''
}

const parameters = { type: 'object', properties: {} } as const
const returning = (value: unknown): Tool =>
  tool({ name: 'get', description: 'Gets.', parameters, effects: () => [], execute: () => value })

describe('what a tool returns reaches the model whole', () => {
  const cases: [string, unknown, string][] = [
    ['text', 'plain', 'plain'],
    ['an object with content', { id: 7, title: 'T', content: 'C' }, '{"id":7,"title":"T","content":"C"}'],
    [
      'an object with a list of content',
      { id: 7, content: [{ kind: 'text', text: 'x' }] },
      '{"id":7,"content":[{"kind":"text","text":"x"}]}',
    ],
    ['a list', [1, 'two', null], '[1,"two",null]'],
    ['numbers', 0, '0'],
    ['false', false, 'false'],
    ['null', null, 'null'],
    ['large integers', { n: 2n ** 64n }, '{"n":"18446744073709551616"}'],
    ['numbers that JSON lacks', { n: Number.NaN, m: Infinity }, '{"n":"NaN","m":"Infinity"}'],
    ['maps and sets', { m: new Map([['a', 1]]), s: new Set([1, 2]) }, '{"m":{"a":1},"s":[1,2]}'],
    ['dates', { d: new Date(0) }, '{"d":"1970-01-01T00:00:00.000Z"}'],
    [
      'errors',
      { e: Object.assign(new RangeError('too far'), { code: 7 }) },
      '{"e":{"code":7,"name":"RangeError","message":"too far"}}',
    ],
    ['bytes', { b: new Uint8Array([1, 2, 3]) }, '{"b":"AQID"}'],
    ['the same object twice', ((one) => [one, one])({ a: 1 }), '[{"a":1},{"a":1}]'],
  ]
  for (const [name, value, expected] of cases)
    test(name, async () => assert.equal(await resultOf(returning(value), {}), expected))

  test('a circle is marked', async () => {
    const circle: Record<string, unknown> = { a: 1 }
    circle['self'] = circle
    assert.equal(await resultOf(returning(circle), {}), '{"a":1,"self":"[circular]"}')
  })

  test('a rich result is made by toolOutput', async () => {
    assert.equal(
      await resultOf(returning(toolOutput({ content: 'for the model', display: 'for the user' })), {}),
      'for the model',
    )
    const failed = toolOutput({ content: 'no luck', error: { message: 'no luck' } })
    assert.match(await resultOf(returning(failed), {}), /no luck/)
  })
})

describe('the input of a tool', () => {
  const schemas = {
    zod: z.object({
      city: z
        .string()
        .min(2)
        .transform((text) => text.toUpperCase()),
      days: z.number().int().optional(),
    }),
    arktype: type({ city: type('string >= 2').pipe((text) => text.toUpperCase()), 'days?': 'number.integer' }),
    valibot: toStandardJsonSchema(
      v.object({
        city: v.pipe(
          v.string(),
          v.minLength(2),
          v.transform((text) => text.toUpperCase()),
        ),
        days: v.optional(v.pipe(v.number(), v.integer())),
      }),
    ),
  }

  test('is inferred from a schema of Zod, ArkType and Valibot; effects get it parsed', async () => {
    const seen: string[] = []
    const zodTool = tool({
      name: 'weather',
      description: 'Weather.',
      parameters: schemas.zod,
      effects: ({ city }) => (seen.push(city satisfies string), []),
      execute: ({ city, days }) => ({ city: city satisfies string, days: days satisfies number | undefined }),
    })
    const arkTool = tool({
      name: 'weather',
      description: 'Weather.',
      parameters: schemas.arktype,
      effects: ({ city }) => (seen.push(city satisfies string), []),
      execute: ({ city, days }) => ({ city: city satisfies string, days: days satisfies number | undefined }),
    })
    const valibotTool = tool({
      name: 'weather',
      description: 'Weather.',
      parameters: schemas.valibot,
      effects: ({ city }) => (seen.push(city satisfies string), []),
      execute: ({ city, days }) => ({ city: city satisfies string, days: days satisfies number | undefined }),
    })
    for (const one of [zodTool, arkTool, valibotTool]) {
      seen.length = 0
      assert.equal(await resultOf(one, { city: 'rome' }), '{"city":"ROME"}')
      assert.equal(seen[0], 'ROME')
      assert.match(await resultOf(one, { city: 'r' }), /not valid/)
      assert.deepEqual(one.spec.schema['required'], ['city'])
    }
  })

  test('is inferred from JSON Schema', () => {
    type Input = InferSchema<{
      readonly type: 'object'
      readonly properties: {
        readonly a: { readonly type: 'string' }
        readonly b: { readonly enum: readonly ['x', 'y'] }
        readonly c: { readonly type: 'array'; readonly items: { readonly type: 'integer' } }
        readonly d: { readonly type: readonly ['string', 'null'] }
      }
      readonly required: readonly ['a', 'c']
    }>
    const input: Input = { a: '', b: 'x', c: [1], d: null }
    assert.deepEqual([input.a satisfies string, input.c satisfies number[]], ['', [1]])
    // @ts-expect-error: a is missing
    const wrong: Input = { c: [] }
    assert.ok(wrong)
  })

  test('a schema without JSON Schema is refused with advice', () => {
    const plain = v.object({ a: v.string() })
    assert.throws(
      () => tool({ name: 'x', description: 'x', parameters: plain, execute: () => '' }),
      /wrap it with toStandardJsonSchema of @valibot\/to-json-schema/,
    )
  })
})

describe('an MCP server as tools', () => {
  test('its tools can be called, and need approval', async () => {
    const script = join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
    const server = await mcp({
      name: 'every',
      command: process.execPath,
      args: [script, 'stdio'],
      includeTools: ['echo'],
    })
    try {
      const [echo] = server.tools
      assert.ok(echo?.spec.name === 'echo')
      let asked = 0
      const yes = () => ++asked > 0
      assert.match(await resultOf(echo, { message: 'hi there' }, yes), /hi there/)
      assert.equal(asked, 1)
    } finally {
      await server.close()
    }
  })

  test('one that is not there is an error', async () => {
    await assert.rejects(mcp({ command: '/does/not/exist' }), /Cannot connect to the MCP server mcp/)
  })
})
