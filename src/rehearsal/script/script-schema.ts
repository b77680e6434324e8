import type { JsonObject } from '../../model/json.ts'
import { validate } from '../../schema/validate/validate.ts'
import { wireIds } from '../../wire/wires.ts'
import { MISBEHAVIOURS, SIMPLE_MISBEHAVIOURS, STREAM_LANDMARKS } from '../misbehaviour/misbehaviour.ts'
import type { RehearsalScript } from './script.ts'

/** Throws a message if it is not a script. */
export function parseRehearsalScript(value: unknown): RehearsalScript {
  const [problem] = validate(REHEARSAL_SCRIPT_SCHEMA, value)
  if (problem) throw new Error(`Invalid script: ${problem.message}`)
  return value as RehearsalScript
}

const stringSchema = { type: 'string' }
const countSchema = { type: 'integer', minimum: 0 }
const millisecondsSchema = { type: 'number', minimum: 0 }

const positionSchema = { anyOf: [countSchema, { enum: [...STREAM_LANDMARKS] }] }

const patternRef = { $ref: '#/$defs/pattern' }
const stepsSchema = { type: 'array', items: { $ref: '#/$defs/entry' } }
const expectationRef = { $ref: '#/$defs/expectation' }

function objectSchema(properties: JsonObject, required: string[] = []): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** The settings of all kinds in one object: a kind ignores those it does not know. */
const misbehaviourSchema = objectSchema(
  {
    kind: { enum: Object.keys(MISBEHAVIOURS) },
    at: positionSchema,
    how: { enum: ['close', 'reset', 'end'] },
    ms: millisecondsSchema,
    every: millisecondsSchema,
    bytes: { type: 'integer', minimum: 1 },
    style: stringSchema,
    status: { type: 'integer', minimum: 200, maximum: 599 },
    hint: { enum: ['seconds', 'milliseconds', 'date', 'past', 'reset', 'details', 'prose', 'none'] },
    wait: millisecondsSchema,
    code: stringSchema,
    message: stringSchema,
    body: { enum: ['vendor', 'html', 'text', 'empty'] },
    location: stringSchema,
    value: stringSchema,
    trouble: { enum: ['overloaded', 'rate', 'server', 'invalid'] },
    dialect: stringSchema,
    lie: { type: 'boolean' },
    word: stringSchema,
    times: countSchema,
    skip: countSchema,
  },
  ['kind'],
)

const extractionSchema = objectSchema(
  { $from: { enum: ['result', 'user', 'system', 'conversation'] }, match: stringSchema, else: {} },
  ['$from', 'match'],
)

const stepSchema = objectSchema({
  when: expectationRef,
  expect: expectationRef,
  take: { type: 'object', additionalProperties: extractionSchema },
  think: stringSchema,
  say: { anyOf: [stringSchema, objectSchema({ text: stringSchema, times: countSchema }, ['text', 'times'])] },
  call: {
    type: 'array',
    items: objectSchema({ name: stringSchema, args: { type: 'object' }, raw: stringSchema }, ['name']),
  },
  misbehave: { type: 'array', items: { anyOf: [{ enum: Object.keys(SIMPLE_MISBEHAVIOURS) }, misbehaviourSchema] } },
  usage: objectSchema({
    input: countSchema,
    cacheRead: countSchema,
    cacheWrite: countSchema,
    output: countSchema,
    reasoning: countSchema,
  }),
  delay: millisecondsSchema,
  pace: millisecondsSchema,
  pieces: { type: 'integer', minimum: 1 },
  repeat: { type: 'integer', minimum: 1 },
})

export const REHEARSAL_SCRIPT_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...objectSchema(
    {
      $schema: stringSchema,
      about: stringSchema,
      steps: stepsSchema,
      end: { $ref: '#/$defs/step' },
      start: { enum: ['conversation', 'prompt'] },
      requires: { enum: ['signatures'] },
    },
    ['steps'],
  ),
  $defs: {
    step: stepSchema,
    entry: {
      if: { required: ['loop'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: objectSchema({ loop: stepsSchema, times: countSchema }, ['loop']),
      else: { $ref: '#/$defs/step' },
    },
    pattern: {
      anyOf: [
        stringSchema,
        objectSchema({ matches: stringSchema }, ['matches']),
        objectSchema({ not: patternRef }, ['not']),
      ],
    },
    expectation: objectSchema({
      user: patternRef,
      results: { anyOf: [patternRef, { type: 'array', items: patternRef }] },
      system: patternRef,
      tools: { type: 'array', items: stringSchema },
      request: countSchema,
      turns: countSchema,
      wire: { enum: [...wireIds] },
    }),
  },
}
