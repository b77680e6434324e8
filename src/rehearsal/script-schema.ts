import type { JsonObject } from '../model/json.ts'
import { validate } from '../schema/validate.ts'
import { SIMPLE_KINDS } from './misbehaviour.ts'
import type { Script } from './script.ts'

/** Reads a script that somebody wrote; throws one sentence where it is not one. */
export function readScript(value: unknown): Script {
  const [problem] = validate(SCRIPT_SCHEMA, value)
  if (problem) throw new Error(`This is not a script: ${problem.message}`)
  return value as Script
}

const text = { type: 'string' }
const count = { type: 'integer', minimum: 0 }
const milliseconds = { type: 'number', minimum: 0 }

const place = {
  anyOf: [
    count,
    {
      enum: ['start', 'first-event', 'thinking', 'text', 'arguments', 'after-call', 'before-end', 'frame', 'delimiter'],
    },
  ],
}

const pattern = { $ref: '#/$defs/pattern' }
const steps = { type: 'array', items: { $ref: '#/$defs/entry' } }
const expectation = { $ref: '#/$defs/expectation' }

function object(properties: JsonObject, required: string[] = []): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** Every setting of every kind in one object: what a kind does not know, it ignores. */
const misbehaviour = object(
  {
    kind: {
      enum: [
        ...SIMPLE_KINDS,
        'cut',
        'stall',
        'drip',
        'trickle',
        'framing',
        'status',
        'html',
        'half-json',
        'redirect',
        'content-type',
        'corrupt',
        'error',
        'text-call',
        'length',
        'finish-wrong',
      ],
    },
    at: place,
    how: { enum: ['close', 'reset', 'end'] },
    ms: milliseconds,
    every: milliseconds,
    bytes: { type: 'integer', minimum: 1 },
    style: text,
    status: { type: 'integer', minimum: 200, maximum: 599 },
    hint: { enum: ['seconds', 'milliseconds', 'date', 'past', 'reset', 'details', 'prose', 'none'] },
    wait: milliseconds,
    code: text,
    message: text,
    body: { enum: ['vendor', 'html', 'text', 'empty'] },
    location: text,
    value: text,
    trouble: { enum: ['overloaded', 'rate', 'server', 'invalid'] },
    dialect: text,
    lie: { type: 'boolean' },
    word: text,
    times: count,
    skip: count,
  },
  ['kind'],
)

const from = object({ $from: { enum: ['result', 'user', 'system', 'conversation'] }, match: text, else: {} }, [
  '$from',
  'match',
])

const step = object({
  when: expectation,
  expect: expectation,
  take: { type: 'object', additionalProperties: from },
  think: text,
  say: { anyOf: [text, object({ text, times: count }, ['text', 'times'])] },
  call: { type: 'array', items: object({ name: text, args: { type: 'object' }, raw: text }, ['name']) },
  misbehave: { type: 'array', items: { anyOf: [{ enum: [...SIMPLE_KINDS] }, misbehaviour] } },
  usage: object({ input: count, cacheRead: count, cacheWrite: count, output: count, reasoning: count }),
  delay: milliseconds,
  pace: milliseconds,
  pieces: { type: 'integer', minimum: 1 },
  repeat: { type: 'integer', minimum: 1 },
})

/** The form of a script, as a JSON Schema. */
export const SCRIPT_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...object(
    {
      $schema: text,
      about: text,
      steps,
      end: { $ref: '#/$defs/step' },
      start: { enum: ['conversation', 'prompt'] },
      requires: { enum: ['signatures'] },
    },
    ['steps'],
  ),
  $defs: {
    step,
    entry: {
      if: { required: ['loop'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: object({ loop: steps, times: count }, ['loop']),
      else: { $ref: '#/$defs/step' },
    },
    pattern: { anyOf: [text, object({ matches: text }, ['matches']), object({ not: pattern }, ['not'])] },
    expectation: object({
      user: pattern,
      results: { anyOf: [pattern, { type: 'array', items: pattern }] },
      system: pattern,
      tools: { type: 'array', items: text },
      request: count,
      turns: count,
      wire: { enum: ['gemini', 'code-assist', 'openai-chat', 'openai-responses', 'anthropic'] },
    }),
  },
}
