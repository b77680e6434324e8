import type { JsonObject } from '../../model/json.ts'
import { validate } from '../../schema/validate/validate.ts'
import { wireIds } from '../../wire/wires.ts'
import {
  FRAMING_STYLES,
  MISBEHAVIOURS,
  RETRY_HINT_FORMATS,
  SIMPLE_MISBEHAVIOURS,
  STREAM_ERROR_KINDS,
  STREAM_LANDMARKS,
  TEXT_CALL_DIALECTS,
} from '../misbehaviour/misbehaviour.ts'
import type { RehearsalScript } from './script.ts'

/** Throws a message if it is not a script. */
export function parseRehearsalScript(value: unknown): RehearsalScript {
  const [problem] = validate(REHEARSAL_SCRIPT_SCHEMA, value)
  if (problem) throw new Error(`Invalid script: ${problem.message}`)
  return value as RehearsalScript
}

const text = (description: string): JsonObject => ({ type: 'string', description })
const count = (description: string, minimum = 0): JsonObject => ({ type: 'integer', minimum, description })
const milliseconds = (description: string): JsonObject => ({ type: 'number', minimum: 0, description })
const oneOf = (description: string, values: readonly string[]): JsonObject => ({ enum: [...values], description })
const list = (description: string, items: JsonObject): JsonObject => ({ type: 'array', items, description })
const reference = (definition: string, description: string): JsonObject => ({
  $ref: `#/$defs/${definition}`,
  description,
})

function objectSchema(properties: JsonObject, required: string[] = []): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** The settings of all kinds in one object: a kind ignores those it does not know. */
const misbehaviourSchema = objectSchema(
  {
    kind: oneOf('which misbehaviour', Object.keys(MISBEHAVIOURS)),
    at: {
      anyOf: [{ type: 'integer', minimum: 0 }, { enum: [...STREAM_LANDMARKS] }],
      description: 'where in the stream: a number of events, or a landmark',
    },
    how: oneOf('how the connection ends: closed, reset, or regularly', ['close', 'reset', 'end']),
    ms: milliseconds('how long, in milliseconds'),
    every: milliseconds('the time between two pieces, in milliseconds'),
    bytes: count('the length of a piece', 1),
    style: oneOf('how the events are framed', FRAMING_STYLES),
    status: { type: 'integer', minimum: 200, maximum: 599, description: 'the HTTP status' },
    hint: oneOf('in which form the response says how long to wait', RETRY_HINT_FORMATS),
    wait: milliseconds('how long the hint says to wait, in milliseconds'),
    code: text('the error code of the vendor'),
    message: text('the error message'),
    body: oneOf('what the error response contains', ['vendor', 'html', 'text', 'empty']),
    location: text('the target of the redirect'),
    value: text('the content type'),
    trouble: oneOf('which error', STREAM_ERROR_KINDS),
    dialect: oneOf('which format the model writes calls in', TEXT_CALL_DIALECTS),
    lie: { type: 'boolean', description: 'the finish reason hides that the response is cut off' },
    word: text('the finish reason'),
    times: count('for so many attempts at the step; without it, always'),
    skip: count('not for the first attempts'),
  },
  ['kind'],
)

const extractionSchema = objectSchema(
  {
    $from: oneOf('where the text is looked for', ['result', 'user', 'system', 'conversation']),
    match: text('a regular expression: its first group, or else the whole match, is the value'),
    else: { description: 'the value if nothing matches; without it, the request fails' },
  },
  ['$from', 'match'],
)

const callSchema = objectSchema(
  {
    name: text('the tool; `{tool}` is the first one that is declared'),
    args: {
      type: 'object',
      description: 'the arguments; `{"$from": …, "match": …}` in them stands for text from the request',
    },
    raw: text('the arguments as text that is sent as it is, valid or not'),
  },
  ['name'],
)

const stepSchema = objectSchema({
  say: {
    anyOf: [{ type: 'string' }, objectSchema({ text: text('the text'), times: count('how often') }, ['text', 'times'])],
    description: 'the text of the response; `{ "text", "times" }` repeats it',
  },
  think: text('the reasoning before it'),
  call: list('the calls after it', callSchema),
  expect: reference('expectation', 'what the request must be; otherwise it fails with status 400'),
  when: reference('expectation', 'the step answers any request that meets this, before all other steps'),
  take: {
    type: 'object',
    additionalProperties: extractionSchema,
    description: 'values from the request, which the step uses as `{name}`',
  },
  misbehave: list('what goes wrong: the name of a misbehaviour, or an object with settings', {
    anyOf: [{ enum: Object.keys(SIMPLE_MISBEHAVIOURS) }, misbehaviourSchema],
  }),
  usage: {
    ...objectSchema({
      input: count('input tokens that were not cached'),
      cacheRead: count('input tokens that were read from the cache'),
      cacheWrite: count('input tokens that were written to the cache'),
      output: count('output tokens'),
      reasoning: count('output tokens that were reasoning'),
    }),
    description: 'the token counts; what is left out is estimated',
  },
  delay: milliseconds('the time before the first byte, in milliseconds'),
  pace: milliseconds('the time between two events of a stream, in milliseconds'),
  pieces: count('into how many chunks each text is split', 1),
  repeat: count('how many times in a row the step answers', 1),
})

export const REHEARSAL_SCRIPT_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...objectSchema(
    {
      $schema: text('the schema, for editors'),
      about: text('a description, for readers'),
      steps: list('the steps and loops', { $ref: '#/$defs/entry' }),
      end: reference('step', 'the response after the last step'),
      start: oneOf('where the assistant turns are counted from: the start, or the last user message', [
        'conversation',
        'prompt',
      ]),
      requires: oneOf('the client must send native data back unchanged', ['signatures']),
    },
    ['steps'],
  ),
  $defs: {
    step: stepSchema,
    loop: objectSchema(
      {
        loop: list('steps and loops that are repeated', { $ref: '#/$defs/entry' }),
        times: count('how many times; without it, forever'),
      },
      ['loop'],
    ),
    entry: {
      if: { required: ['loop'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { $ref: '#/$defs/loop' },
      else: { $ref: '#/$defs/step' },
    },
    call: callSchema,
    extraction: extractionSchema,
    misbehaviour: misbehaviourSchema,
    pattern: {
      anyOf: [
        { type: 'string' },
        objectSchema({ matches: { type: 'string' } }, ['matches']),
        objectSchema({ not: { $ref: '#/$defs/pattern' } }, ['not']),
      ],
    },
    expectation: objectSchema({
      user: reference('pattern', 'the last user message'),
      results: {
        anyOf: [{ $ref: '#/$defs/pattern' }, { type: 'array', items: { $ref: '#/$defs/pattern' } }],
        description: 'the tool results since the last response; a list means all of them',
      },
      system: reference('pattern', 'the system prompt'),
      tools: list('tools that must be declared', { type: 'string' }),
      request: count('the number of the request to this script, from 1'),
      turns: count('the number of assistant turns since the start'),
      resultCount: count('the number of tool results in the conversation'),
      wire: oneOf('the API format', wireIds),
    }),
  },
}
