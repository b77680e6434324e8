import type { CloseReason } from '../../agent/loop/run-event.ts'
import type { FaultKind } from '../../model/fault.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ApprovalDetails } from '../../tool/tool.ts'

const text = (description: string): JsonObject => ({ type: 'string', description })
const count = (description: string): JsonObject => ({ type: 'integer', minimum: 0, description })
const amount = (description: string): JsonObject => ({ type: 'number', minimum: 0, description })
const flag = (description: string): JsonObject => ({ type: 'boolean', description })
const oneOf = (description: string, values: object): JsonObject => ({ enum: Object.keys(values), description })
const object = (description: string, properties: JsonObject, optional: readonly string[] = []): JsonObject => ({
  type: 'object',
  description,
  properties,
  required: Object.keys(properties).filter((key) => !optional.includes(key)),
})
const byName = (description: string, additionalProperties: JsonObject): JsonObject => ({
  type: 'object',
  description,
  additionalProperties,
})
const ref = (name: string): JsonObject => ({ $ref: `#/$defs/${name}` })

/** Why a run ended. */
export const END_REASONS = {
  done: 'the model finished',
  'awaiting-approval': 'calls wait for approval; answer with `dragoman sessions reply`, then resume the session',
  'turn-limit': '`--max-turns` was reached',
  'time-limit': 'the time limit was reached',
  'cost-limit': '`--max-cost` would be exceeded',
  loop: 'the model kept making the same calls',
  cancelled: 'a signal (Ctrl-C) stopped the run',
  'output-lost': 'the reader of standard output is gone',
  length: 'the model stopped at its output limit; the answer is incomplete',
  filter: 'a content filter of the provider withheld the answer or its rest',
  fault: 'the model could not be asked; `error.type` says why',
  unsaved: 'the session could not be saved',
  'taken-over': 'another process took the session over, or may have',
  refused: 'nothing ran: an option, a setting or the sign-in is wrong',
} satisfies Record<CloseReason | 'refused', string>

/** What `error.type` can be beside the reasons. */
export const ERROR_TYPE_DESCRIPTIONS = {
  auth: 'the key or sign-in is missing or was refused',
  rate: 'rate limit',
  quota: 'quota used up',
  overflow: 'the request is larger than the context window',
  invalid: 'the provider refused the request as wrong',
  policy: 'the provider refused the request by its usage policy',
  server: 'error of the provider',
  transport: 'the connection failed or timed out',
  decode: 'the response could not be read',
  'output-invalid': 'the answer did not fit `--json-schema`, also after two further attempts',
  input: 'a wrong option, file or session; nothing ran',
  config: 'a wrong setting; nothing ran',
  failure: 'another failure; nothing ran',
} satisfies Record<FaultKind | 'output-invalid' | 'input' | 'config' | 'failure', string>

const ASK_KINDS = { edit: 0, exec: 0, mcp: 0, plan: 0, question: 0, sandbox: 0, info: 0 } satisfies Record<
  ApprovalDetails['kind'],
  0
>

const USAGE = {
  input: count('input tokens, neither read from nor written to the prompt cache'),
  cacheRead: count('input tokens read from the prompt cache'),
  cacheWrite: count('input tokens written to the prompt cache'),
  output: count('output tokens without reasoning'),
  reasoning: count('reasoning tokens'),
}
const COST = { type: ['number', 'null'], minimum: 0, description: 'cost in US dollars; null if a price is not known' }
const TOKENS = {
  total_tokens: count('input and output'),
  input_tokens: count('all input tokens, cached ones included'),
  output_tokens: count('all output tokens, reasoning included'),
  cached: count('input tokens read from the prompt cache'),
}

const STRUCTURED_OUTPUT = { description: 'with `--json-schema`: the answer as a JSON value, if it fits the schema' }

const SHARED = {
  failure: object('what went wrong', {
    type: oneOf('what kind of error it is', { ...ERROR_TYPE_DESCRIPTIONS, ...END_REASONS }),
    message: text('one sentence, with what to do next'),
  }),
  stats: object(
    'what the run used and did',
    {
      ...TOKENS,
      input: USAGE.input,
      duration_ms: count('duration of the run'),
      tool_calls: count('how many tool calls ended'),
      requests: count('how many responses of the model ended'),
      usage: object('tokens in buckets that do not overlap', USAGE),
      cost_usd: COST,
      models: byName('tokens by model', object('', TOKENS)),
      tools: byName(
        'calls by tool',
        object('', {
          count: count('how many calls'),
          success: count('how many succeeded'),
          ms: amount('time spent in them, in milliseconds'),
        }),
      ),
      subagents: {
        type: 'array',
        description: 'the subagents, whose tokens and cost are counted above',
        items: object('', {
          session_id: text('session of the subagent'),
          agent: text('name of the agent'),
          tool_id: text('the call that started it'),
          reason: oneOf('why it ended', END_REASONS),
          requests: count('how many responses of the model ended'),
          usage: object('tokens in buckets that do not overlap', USAGE),
          cost_usd: COST,
        }),
      },
    },
    ['subagents'],
  ),
}

const SESSION_ID = '20261116-100000-ab12'
const TIME = '2026-11-16T10:00:00.000Z'
const TOKENS_EXAMPLE = { total_tokens: 2480, input_tokens: 2440, output_tokens: 40, cached: 1200 }
const STATS_EXAMPLE = {
  ...TOKENS_EXAMPLE,
  input: 1240,
  duration_ms: 1830,
  tool_calls: 1,
  requests: 2,
  usage: { input: 1240, cacheRead: 1200, cacheWrite: 0, output: 40, reasoning: 0 },
  cost_usd: null,
  models: { qwen3: TOKENS_EXAMPLE },
  tools: { read_file: { count: 1, success: 1, ms: 4 } },
}

/** One type of line: what it says, its fields beside `type` and `timestamp`, which of them may be absent, and an example. */
interface LineSchema {
  readonly about: string
  readonly fields: JsonObject
  readonly optional?: readonly string[]
  readonly example: JsonObject
}

const LINES = {
  init: {
    about: 'The run begins.',
    fields: {
      session_id: text('session id, for `--resume`'),
      model: text('model name'),
      provider: text('provider name'),
      prompt_id: text('id of this prompt in the session'),
    },
    example: { session_id: SESSION_ID, model: 'qwen3', provider: 'ollama', prompt_id: `${SESSION_ID}#1` },
  },
  message: {
    about: 'Text of the user or of the model. The text of the model comes in pieces with `delta: true`; join them.',
    fields: {
      role: oneOf('who wrote it', { user: 0, assistant: 0 }),
      content: text('the text, or a piece of it'),
      delta: flag('true: a piece of a longer text'),
      plan: flag('true: the plan with which plan mode ended'),
    },
    optional: ['delta', 'plan'],
    example: { role: 'assistant', content: 'The file ', delta: true },
  },
  thought: {
    about: 'A piece of the reasoning of the model, where the provider shows it.',
    fields: { content: text('a piece of the text'), delta: flag('always true') },
    example: { content: 'I should read it first.', delta: true },
  },
  tool_use: {
    about: 'The model made a tool call. Exactly one `tool_result` with the same `tool_id` follows.',
    fields: {
      tool_name: text('name of the tool'),
      tool_id: text('id of the call'),
      parameters: { type: 'object', description: 'arguments; empty if the model wrote something invalid' },
    },
    example: { tool_name: 'read_file', tool_id: 'c1', parameters: { absolute_path: '/home/me/project/a.txt' } },
  },
  tool_result: {
    about: 'The tool call ended.',
    fields: {
      tool_id: text('id of the call'),
      tool_name: text('name of the tool'),
      status: oneOf('`error` also means denied, cancelled or interrupted', { success: 0, error: 0 }),
      output: text('the text that the model gets'),
      error: object('why it failed', {
        type: text('`denied`, `cancelled`, `interrupted`, `error`, or a more exact type of the tool'),
        message: text('what happened'),
      }),
      decision: text('the rule that allowed or denied the call'),
      duration_ms: amount('time in milliseconds'),
      exit_code: { type: ['integer', 'null'], description: 'exit code of a shell command; null if a signal ended it' },
      display: {
        type: ['string', 'object'],
        description: 'what a person is shown: text, a file diff (`fileDiff`, `fileName`, …), or `title` and `markdown`',
      },
    },
    optional: ['error', 'decision', 'exit_code', 'display'],
    example: { tool_id: 'c1', tool_name: 'read_file', status: 'success', output: 'hello\n', duration_ms: 4 },
  },
  ask: {
    about: 'A tool call waits for approval. `-p` never prints it: without a person such a call is denied.',
    fields: {
      ask_id: text('id of the approval request'),
      tool_id: text('id of the call'),
      tool_name: text('name of the tool'),
      details: {
        type: 'object',
        description: 'what would happen; the other fields depend on `kind`',
        properties: { kind: oneOf('what is asked about', ASK_KINDS), title: text('a line for a person') },
        required: ['kind', 'title'],
      },
      asker: text('the subagent that asks; absent for the agent of the session'),
    },
    optional: ['asker'],
    example: { ask_id: 'a1', tool_id: 'c2', tool_name: 'run_shell_command', details: { kind: 'exec', title: 'Run' } },
  },
  subagent: {
    about: 'A line of a subagent, which works in a session of its own: `event` is what its own stream would have.',
    fields: {
      session_id: text('session of the subagent, for `dragoman sessions show`'),
      agent: text('name of the agent'),
      tool_id: text('the call of the session that started it'),
      event: { ...ref('line'), description: 'the line of the subagent' },
    },
    example: {
      session_id: '20260102-101502-ghijkl',
      agent: 'explore',
      tool_id: 'c3',
      event: { type: 'error', timestamp: TIME, severity: 'warning', message: 'The model is not available.' },
    },
  },
  usage: {
    about: 'What the run has used so far, after each response of the model.',
    fields: { ...USAGE, cost_usd: COST, turns: count('responses of the model so far') },
    example: { input: 1200, cacheRead: 0, cacheWrite: 0, output: 35, reasoning: 0, cost_usd: 0.0021, turns: 1 },
  },
  compact: {
    about: 'The history was summarised, because the context window was nearly full.',
    fields: {
      before_tokens: count('estimated tokens of the history before'),
      after_tokens: count('estimated tokens after'),
      done: flag('false: it begins, or the summary was not used'),
    },
    example: { before_tokens: 90000, after_tokens: 4000, done: true },
  },
  retry: {
    about: 'The response broke off and is requested again. Discard what was printed of it; none of its calls ran.',
    fields: {
      attempt: count('number of the new attempt; the first one was 1'),
      wait_ms: amount('milliseconds until it begins'),
      message: text('what ended the attempt before'),
    },
    example: { attempt: 2, wait_ms: 1000, message: 'The connection was closed.' },
  },
  wait: {
    about: 'Nothing has arrived from the provider for a while.',
    fields: {
      host: text('host and port'),
      stage: oneOf('`answer`: the response has not begun; `rest`: it has begun', { answer: 0, rest: 0 }),
      waited_ms: count('how long already'),
      limit_ms: amount('when the run gives up'),
    },
    example: { host: '127.0.0.1:11434', stage: 'answer', waited_ms: 15000, limit_ms: 300000 },
  },
  error: {
    about: 'A warning, or the error that ended the run (then `result` follows).',
    fields: {
      severity: oneOf('how bad it is', { warning: 0, error: 0 }),
      message: text('one sentence'),
      code: text('a fixed word, for warnings about a response'),
    },
    optional: ['code'],
    example: { severity: 'error', message: 'turn limit reached; continue with dragoman --resume' },
  },
  result: {
    about: 'The last line of every run.',
    fields: {
      status: oneOf('`success` if `reason` is `done`', { success: 0, error: 0 }),
      reason: oneOf('why the run ended', END_REASONS),
      error: ref('failure'),
      structured_output: STRUCTURED_OUTPUT,
      stats: ref('stats'),
    },
    optional: ['error', 'structured_output'],
    example: { status: 'success', reason: 'done', stats: STATS_EXAMPLE },
  },
} satisfies Readonly<Record<string, LineSchema>>

/** The types of the lines of `--output-format stream-json`. A type that is not here does not compile. */
export type StreamJsonLineType = keyof typeof LINES

function lineSchema(type: string, { about, fields, optional, example }: LineSchema): JsonObject {
  const timestamp = { type: 'string', format: 'date-time', description: 'when, in UTC' }
  const schema = object(about, { type: { const: type }, timestamp, ...fields }, optional)
  return { ...schema, examples: [{ type, timestamp: TIME, ...example }] }
}

/**
 * The JSON Schema of what `--output-format json` and each line of `--output-format stream-json` print. It does not forbid
 * other fields: later versions add some.
 */
export const EVENTS_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Output of dragoman --output-format json, and a line of --output-format stream-json',
  oneOf: [ref('json'), ref('line')],
  $defs: {
    json: {
      ...object(
        'The one object of --output-format json.',
        {
          session_id: text('session id, for `--resume`; empty if nothing ran'),
          response: text('the last answer of the model; in plan mode, the plan'),
          structured_output: STRUCTURED_OUTPUT,
          stats: ref('stats'),
          error: ref('failure'),
          warnings: { type: 'array', items: { type: 'string' }, description: 'what the user should know' },
        },
        ['structured_output', 'error', 'warnings'],
      ),
      examples: [{ session_id: SESSION_ID, response: 'The file says hello.', stats: STATS_EXAMPLE }],
    },
    line: { description: 'A line of --output-format stream-json.', oneOf: Object.keys(LINES).map(ref) },
    ...Object.fromEntries(Object.entries(LINES).map(([type, schema]) => [type, lineSchema(type, schema)])),
    ...SHARED,
  },
}
