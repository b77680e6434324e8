import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { END_REASONS } from '../../src/cli/output/events-schema.ts'
import { createStreamJsonOutput } from '../../src/cli/output/stream-json-output.ts'
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts'
import type { RehearsalScript } from '../../src/rehearsal/script/script.ts'
import { until } from '../support/alive.ts'
import { dragoman, type Ended, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'

const published = JSON.parse(readFileSync(join(root, 'docs/events.schema.json'), 'utf8')) as JsonObject
const definitions = published['$defs'] as { line: { oneOf: { $ref: string }[] }; result: { examples: [JsonObject] } }
const types = definitions.line.oneOf.map(({ $ref }) => $ref.split('/').at(-1) ?? '')

const open = validator(published)
/** The published schema lets other fields through, so that later versions can add some; here each must be described. */
const strict = validator(closed(published) as JsonObject)
const seen = new Set<string>()

describe('--output-format json and stream-json print what docs/events.schema.json describes', () => {
  const shell = { call: [{ name: 'run_shell_command', args: { command: 'echo done > made.txt' } }] }
  const cases: Readonly<Record<string, Case>> = {
    text: { play: [{ think: 'Well.', say: 'Hello.' }], reason: 'done' },
    tools: {
      play: [
        { say: 'Looking.', call: [{ name: 'list_directory', args: { path: '{cwd}' } }] },
        { call: [{ name: 'write_file', args: { file_path: '{cwd}/new.txt', content: 'new\n' } }] },
        { call: [{ name: 'run_shell_command', args: { command: 'exit 3' } }] },
        { say: 'Done.' },
      ],
      args: ['--yolo', '--sandbox', 'off'],
      reason: 'done',
    },
    'tools that fail': {
      play: [
        { call: [{ name: 'read_file', args: { absolute_path: '{cwd}/none.txt' } }] },
        { call: [{ name: 'nobody_has_this', args: {} }] },
        { call: [{ name: 'read_file', raw: '{"absolute_path": ' }] },
        { say: 'Well.' },
      ],
      reason: 'done',
    },
    'a subagent': {
      play: [
        { when: { user: 'Look around.' }, say: 'Nothing there.' },
        { call: [{ name: 'task', args: { description: 'look', prompt: 'Look around.', subagent_type: 'explore' } }] },
        { say: 'Well.' },
      ],
      reason: 'done',
    },
    'a call that is denied': { play: [shell, { say: 'Well.' }], reason: 'done' },
    plan: {
      play: [{ say: 'Looking.', call: [{ name: 'exit_plan_mode', args: { plan: 'First this.' } }] }, { say: 'Well.' }],
      args: ['--approval-mode', 'plan'],
      reason: 'done',
    },
    length: {
      play: [{ say: 'Half an ans', misbehave: [{ kind: 'finish-wrong', word: 'length' }] }],
      reason: 'length',
      code: 1,
    },
    filter: { play: [{ say: 'Half an ans', misbehave: ['filter'] }], reason: 'filter', code: 1 },
    'an answer that breaks off once': {
      play: [{ say: 'Hello there.', misbehave: [{ kind: 'cut', at: 'text', times: 1 }] }],
      reason: 'done',
    },
    'a server that refuses': { play: [{ misbehave: [{ kind: 'status', status: 400 }] }], reason: 'fault', code: 1 },
    'a key that is refused': { play: [{ misbehave: [{ kind: 'status', status: 401 }] }], reason: 'fault', code: 41 },
    'a server that is silent': {
      play: [{ misbehave: [{ kind: 'stall', at: 'start' }] }],
      config: { requestTimeout: 2 },
      reason: 'fault',
      code: 1,
    },
    'the limit of turns': { play: [{ loop: [shell] }], args: ['--max-turns', '2'], reason: 'turn-limit', code: 53 },
    'a window that is full': {
      play: [
        { when: { user: 'about to be replaced' }, say: 'A summary of it.' },
        { say: 'One.', usage: { input: 5500, output: 10 } },
        { loop: [{ say: 'More.', usage: { input: 100, output: 10 } }] },
      ],
      before: ['-p', `begin ${'BIG '.repeat(2000)}`],
      args: ['--resume'],
      config: { catalog: { 'openai-chat/script': { window: 6000 } } },
      reason: 'done',
    },
    'a wrong option': { play: [], args: ['--max-turns', 'many'], reason: 'refused', code: 42 },
    'no key': { play: [], args: ['-m', 'anthropic/claude-sonnet-4-5'], reason: 'refused', code: 41 },
    'a wrong setting': { play: [], config: { modle: 'x' }, reason: 'refused', code: 52 },
  }
  for (const [name, one] of Object.entries(cases))
    test(name, async () => {
      const here = await set(one)
      if (one.before) await dragoman(one.before, here)
      check(one, await dragoman(['-p', 'go', '-o', 'stream-json', ...(one.args ?? [])], here))
      const json = await dragoman(['-p', 'go', '-o', 'json', ...(one.args ?? [])], here)
      assert.equal(json.code, one.code ?? 0, json.err)
      validate(JSON.parse(json.out) as Json, 'json')
    })

  test('cancelled', async () => {
    for (const format of ['stream-json', 'json']) {
      const here = await stage([{ say: 'Long. '.repeat(100), pace: 20 }])
      const ended = await dragoman(['-p', 'go', '-o', format], here, {
        started: (child) => {
          let isStopped = false
          // A second signal would end it at once.
          const stop = (): void => {
            if (!isStopped) child.kill('SIGINT')
            isStopped = true
          }
          // The one form prints as it goes; of the other, the request is the sign that it has begun.
          if (format === 'stream-json') child.stdout?.on('data', (text: Buffer) => text.includes('Long.') && stop())
          else void until(() => here.server.requests.length === 1).then(stop)
        },
      })
      if (format === 'stream-json') check({ reason: 'cancelled', code: 130 }, ended)
      else validate(JSON.parse(ended.out) as Json, 'json')
      assert.equal(ended.code, 130, ended.err)
    }
  })

  test('ask, which only a run with a person has', () => {
    const lines: string[] = []
    const output = createStreamJsonOutput({ out: (text) => void lines.push(text), err: () => undefined })
    const details = { kind: 'exec', title: 'Run', command: 'ls', rootCommand: 'ls', folder: '/' } as const
    const decision = { verdict: 'ask', rule: 'r', why: 'w' } as const
    output.onEvent({ type: 'ask', ask: { id: 'a', call: 'c', tool: 'run_shell_command', details, decision } })
    validate(JSON.parse(lines.join('')) as Json, 'ask', open)
    seen.add('ask')
  })

  // What was told above must be all that there is.
  after(() => assert.deepEqual(seen, new Set(types), 'every type of line was printed'))
})

test('the examples in the schema are valid', () => {
  for (const [name, { examples = [] }] of Object.entries(definitions as Record<string, { examples?: Json[] }>))
    for (const example of examples) validate(example, name)
})

test('a line that lacks a field, or has a wrong reason, is not valid', () => {
  const [result] = definitions.result.examples
  assert.ok(open('result')(result))
  assert.ok(!open('result')({ ...result, reason: 'bored' }))
  assert.ok(!open('result')({ ...result, stats: {} }))
  assert.ok(open('result')({ ...result, later: 1 }), 'fields may be added')
  assert.ok(!strict('result')({ ...result, later: 1 }))
})

type Line = JsonObject & { readonly type: string; readonly tool_id?: string }

interface Case {
  readonly play?: RehearsalScript['steps']
  readonly args?: readonly string[]
  readonly before?: readonly string[]
  readonly config?: JsonObject
  readonly reason: keyof typeof END_REASONS
  readonly code?: number
}

async function set({ play = [], config }: Case) {
  const here = await stage(play)
  if (config === undefined) return here
  mkdirSync(join(here.home, '.config/dragoman'), { recursive: true })
  writeFileSync(join(here.home, '.config/dragoman/config.json'), JSON.stringify(config))
  return here
}

/** Every line is valid, the last one is the result, and each call has one. */
function check({ reason, code = 0 }: Case, ended: Ended): void {
  const lines = ended.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
  for (const line of lines) {
    validate(line, line.type)
    seen.add(line.type)
  }
  assert.deepEqual([lines.at(-1)?.type, lines.at(-1)?.['reason'], ended.code], ['result', reason, code], ended.err)
  const ids = (type: string) => lines.flatMap((line) => (line.type === type ? [line.tool_id ?? ''] : [])).sort()
  assert.deepEqual(ids('tool_result'), ids('tool_use'))
}

function validate(value: Json, name: string, by = strict): void {
  const isValid = by(name)
  assert.ok(isValid(value), `${name}: ${JSON.stringify(isValid.errors)}\n${JSON.stringify(value)}`)
}

function validator(schema: JsonObject) {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema({ ...schema, $id: 'events' })
  return (name: string) => {
    const found = ajv.getSchema(`events#/$defs/${name}`)
    assert.ok(found, `the schema has no ${name}`)
    return found
  }
}

/** The same schema, in which no object has a field that is not named. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed)
  if (!isObject(schema)) return schema
  const all = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  return isObject(schema['properties']) && schema['type'] === 'object' ? { additionalProperties: false, ...all } : all
}
