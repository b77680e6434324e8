import type { JsonObject } from '../../model/json.ts'
import { API_ERROR_CODES } from './api-error.ts'

/** The schemas of the API. They are the components of its OpenAPI document. */
const string: JsonObject = { type: 'string' }
const integer: JsonObject = { type: 'integer' }
const time: JsonObject = { type: 'integer', description: 'Milliseconds since 1970.' }
const anyObject: JsonObject = { type: 'object', additionalProperties: true }

export function objectOf(properties: JsonObject, optional: JsonObject = {}): JsonObject {
  return {
    type: 'object',
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: false,
  }
}

export const listOf = (items: JsonObject): JsonObject => ({ type: 'array', items })
export const ref = (name: keyof typeof COMPONENTS): JsonObject => ({ $ref: `#/components/schemas/${name}` })

export const SESSION_ID: JsonObject = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' }
export const NAME: JsonObject = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$' }

const workspace: JsonObject = {
  ...objectOf(
    { git: { type: 'string', minLength: 1, maxLength: 2000 } },
    { ref: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$' } },
  ),
  description: 'A repository that is checked out for the session; `ref` is a branch, a tag or a commit.',
}

/** With what a session runs. */
export const SETTINGS = {
  agent: NAME,
  model: { type: 'string', minLength: 1, maxLength: 300, description: '`provider/model`.' },
  workspace,
  label: { ...NAME, description: 'Only workers with this label run the session.' },
} satisfies JsonObject

/** Text, or parts. */
export const INPUT: JsonObject = {
  anyOf: [
    { type: 'string', minLength: 1 },
    {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      items: {
        anyOf: [
          objectOf({ kind: { const: 'text' }, text: string }),
          objectOf(
            { kind: { const: 'media' }, mime: { type: 'string', pattern: '^[\\w.+-]+/[\\w.+-]+$' }, data: string },
            { name: string },
          ),
        ],
      },
    },
  ],
}

const usage = objectOf(
  { input: integer, output: integer },
  { cacheRead: integer, cacheWrite: integer, reasoning: integer },
)

export const COMPONENTS = {
  Error: objectOf({
    error: objectOf({ code: { type: 'string', enum: [...API_ERROR_CODES] }, message: string }),
  }),
  Session: objectOf(
    {
      id: SESSION_ID,
      state: { type: 'string', enum: ['idle', 'running', 'waiting'] },
      created: time,
      changed: time,
      settings: objectOf({}, SETTINGS),
      lastEntry: { ...integer, description: 'The number of the last entry.' },
    },
    { parent: objectOf({ session: string, seq: integer }) },
  ),
  SessionSummary: objectOf(
    { id: SESSION_ID, created: time, changed: time, title: string },
    {
      prompts: integer,
      model: string,
      unfinished: { const: true },
      parent: objectOf({ session: string, seq: integer }),
    },
  ),
  Entry: {
    type: 'object',
    description: 'A record of the session log. Its fields depend on its kind.',
    properties: { seq: integer, at: time, kind: string },
    required: ['seq', 'at', 'kind'],
    additionalProperties: true,
  },
  PromptResult: objectOf(
    {
      state: { type: 'string', enum: ['queued', 'running', 'waiting', 'ended'] },
      text: string,
      turns: integer,
      usage,
    },
    { reason: string, cost: { type: 'number' }, fault: anyObject },
  ),
  Approval: objectOf({ id: string, call: string, tool: string, input: anyObject, details: anyObject }),
  Schedule: objectOf({ name: NAME, session: SESSION_ID, cron: string, input: listOf(anyObject) }),
  File: objectOf(
    { name: string, type: { type: 'string', enum: ['file', 'folder', 'link', 'other'] } },
    { bytes: integer },
  ),
  Accepted: objectOf({ message: string, after: integer }),
} satisfies Record<string, JsonObject>
