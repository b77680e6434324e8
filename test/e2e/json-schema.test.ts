import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { dragoman, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'

const SCHEMA = JSON.stringify({
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
  required: ['city', 'degrees'],
})
const VALUE = { city: 'Oslo', degrees: -3 }
const RIGHT = JSON.stringify(VALUE)
const look = { say: 'Looking.', call: [{ name: 'list_directory', args: { path: '{cwd}' } }] }

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
const isPublished = ajv.compile(
  JSON.parse(readFileSync(join(root, 'docs/events.schema.json'), 'utf8')) as Record<string, unknown>,
)

describe('dragoman -p --json-schema', () => {
  test('text: the JSON value is all that is on standard output, whatever else the model says', async () => {
    const here = await stage([look, { say: 'It is cold.' }, { say: `Sorry:\n\`\`\`json\n${RIGHT}\n\`\`\`` }])
    writeFileSync(join(here.work, 'weather.json'), SCHEMA)
    const { code, out, err } = await dragoman(['-p', 'how warm is it?', '--json-schema', 'weather.json'], here)
    assert.equal(out, `${JSON.stringify(VALUE, null, 2)}\n`)
    assert.equal(code, 0)
    assert.doesNotMatch(err, /It is cold/)
    assert.match(JSON.stringify(here.server.requests[0]?.body), /"response_format":\{"type":"json_schema"/)
    assert.equal(here.server.requests.length, 3)
  })

  test('json and stream-json: the value is beside the text', async () => {
    const here = await stage([{ say: `Well: ${RIGHT}` }])
    const args = ['-p', 'go', '--json-schema', SCHEMA, '--output-format']
    const json = JSON.parse((await dragoman([...args, 'json'], here)).out) as Record<string, unknown>
    assert.deepEqual([json['response'], json['structured_output']], [`Well: ${RIGHT}`, VALUE])
    assert.ok(isPublished(json), JSON.stringify(isPublished.errors))
    const { out, code } = await dragoman([...args, 'stream-json'], here)
    const last = JSON.parse(out.trim().split('\n').at(-1) ?? '') as Record<string, unknown>
    assert.deepEqual([code, last['type'], last['reason'], last['structured_output']], [0, 'result', 'done', VALUE])
    assert.ok(isPublished(last), JSON.stringify(isPublished.errors))
  })

  test('an answer that stays wrong: exit code 1, a sentence, and no value', async () => {
    const here = await stage([{ loop: [{ say: '{"city":"Oslo"}' }] }])
    const args = ['-p', 'go', '--json-schema', SCHEMA]
    const { code, out, err } = await dragoman(args, here)
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, /dragoman: The answer of the model does not fit the output schema: .*degrees/)
    assert.equal(here.server.requests.length, 3)
    const json = JSON.parse((await dragoman([...args, '-o', 'json'], here)).out) as Record<string, { type?: string }>
    assert.equal(json['error']?.type, 'output-invalid')
    assert.ok(!('structured_output' in json))
    assert.ok(isPublished(json), JSON.stringify(isPublished.errors))
  })

  test('other values than objects, and null', async () => {
    for (const [schema, said, printed] of [
      ['{"type":"array","items":{"type":"integer"}}', '{"value":[1,2]}', '[\n  1,\n  2\n]\n'],
      ['{"type":["integer","null"]}', '{"value":null}', 'null\n'],
    ] as const) {
      const here = await stage([{ say: said }])
      const { code, out } = await dragoman(['-p', 'go', '--json-schema', schema], here)
      assert.deepEqual([code, out], [0, printed])
    }
  })

  test('a schema that cannot be used is one sentence, and nothing is sent', async () => {
    const here = await stage([{ say: RIGHT }])
    writeFileSync(join(here.work, 'half.json'), '{"type": ')
    writeFileSync(join(here.work, 'list.json'), '[]')
    for (const [given, told] of [
      ['none.json', /^dragoman: the JSON schema \S+none\.json cannot be read: .*\n$/],
      ['half.json', /^dragoman: the JSON schema \S+half\.json is not JSON\n$/],
      ['list.json', /^dragoman: the JSON schema \S+list\.json must be a JSON object\n$/],
      ['{"type":', /^dragoman: the JSON schema is not JSON\n$/],
      ['{"$ref":"#/$defs/none"}', /^dragoman: the JSON schema cannot be used: .*\$defs\/none.*\n$/],
      ['{"type":"sting"}', /^dragoman: the JSON schema cannot be used: .*sting.*\n$/],
    ] as const) {
      const { code, out, err } = await dragoman(['-p', 'go', '--json-schema', given], here)
      assert.deepEqual([code, out], [42, ''], given)
      assert.match(err, told)
    }
    assert.equal(here.server.requests.length, 0)
    const { out } = await dragoman(['-p', 'go', '-o', 'json', '--json-schema', 'list.json'], here)
    assert.match(out, /"type": "input"/)
  })

  test('a session with a structured answer is resumed without one, and recorded runs are replayed', async () => {
    const here = await stage([{ say: 'no' }, { say: RIGHT }, { say: 'Warmer tomorrow.' }])
    await dragoman(['-p', 'go', '--json-schema', SCHEMA, '--record', 'tape'], here)
    const { code, out } = await dragoman(['replay', 'tape'], here)
    assert.equal(code, 0, out)
    const later = await dragoman(['-p', 'and tomorrow?', '--resume'], here)
    assert.equal(later.out, 'Warmer tomorrow.\n')
    assert.doesNotMatch(JSON.stringify(here.server.requests.at(-1)?.body), /response_format/)
  })
})
