import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FaultKind } from '../../src/model/fault.ts'
import { classifyVendorError } from '../../src/wire/errors/classify-error.ts'
import { type ParsedVendorError, parseVendorError } from '../../src/wire/errors/parse-error.ts'
import { parseRetryAfter } from '../../src/wire/errors/retry-after.ts'
import { createFramer } from '../../src/wire/framing/framer.ts'
import { recordings } from '../support/corpus.ts'
import { skipWithoutShared } from '../support/paths.ts'

/** The error in a frame, which must be there. */
function found(value: unknown): ParsedVendorError {
  const error = parseVendorError(value)
  assert.ok(error, JSON.stringify(value))
  return error
}

function kind(value: unknown, status?: number): FaultKind {
  return classifyVendorError(found(value), status === undefined ? {} : { status }).kind
}

test('T73 what the model wrote comes with a malformed call', () => {
  const groq = classifyVendorError(
    found({
      error: {
        message: 'Failed to call a function',
        type: 'invalid_request_error',
        code: 'tool_use_failed',
        failed_generation: '<function=x>',
      },
    }),
    { status: 400 },
  )
  assert.equal(groq.kind, 'invalid')
  assert.equal(groq.written, '<function=x>')
  const ollama = classifyVendorError(
    found({ error: `error parsing tool call: raw='{"a": 'it's}', err=invalid character` }),
    {
      status: 500,
    },
  )
  assert.equal(ollama.kind, 'invalid')
  assert.equal(ollama.written, `{"a": 'it's}`)
})

test('T158 kinds by status and by words', () => {
  const day = {
    '@type': 'x/google.rpc.QuotaFailure',
    violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }],
  }
  const minute = {
    '@type': 'x/google.rpc.QuotaFailure',
    violations: [{ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel' }],
  }
  const retry = (retryDelay: string) => ({ '@type': 'x/google.rpc.RetryInfo', retryDelay })
  const google = (message: string, ...details: unknown[]) => ({
    error: { code: 429, status: 'RESOURCE_EXHAUSTED', message, details },
  })
  const cases: readonly [FaultKind, unknown, number?][] = [
    ['auth', { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }, 401],
    [
      'auth',
      { error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } },
      400,
    ],
    ['auth', { error: { message: 'Forbidden', code: 'forbidden' } }, 403],
    ['auth', { error: { message: 'x', status: 'PERMISSION_DENIED', code: 403 } }, 403],
    ['auth', { type: 'error', error: { type: 'authentication_error', message: 'x' } }],
    ['invalid', { error: { message: 'You are not allowed to sample from this model' } }, 403],
    ['rate', { error: { message: 'Rate limit reached', type: 'tokens', code: 'rate_limit_exceeded' } }, 429],
    ['rate', { type: 'error', error: { type: 'rate_limit_error', message: 'x' } }],
    ['rate', { error: { code: 'rate_limit_exceeded', message: 'Please try again in 11.054s' } }],
    [
      'rate',
      google('You exceeded your current quota, please check your plan and billing details.', minute, retry('34s')),
    ],
    ['rate', google('You exceeded your current quota', minute)],
    ['rate', google('Resource has been exhausted (e.g. check quota).')],
    ['rate', google('You have exhausted your capacity on this model. Your quota will reset after 39s.')],
    ['rate', { code: 'Throttling.RateQuota', message: 'Requests rate limit exceeded', request_id: 'x' }, 429],
    ['rate', { error: { message: 'Rate limit exceeded: free-models-per-min. ', code: 429 } }, 429],
    ['rate', { message: 'Too many tokens, please wait before trying again.' }, 429],
    [
      'rate',
      {
        error: {
          message: 'Request too large on tokens per minute (TPM): Limit 6000, Requested 7000',
          code: 'rate_limit_exceeded',
        },
      },
      413,
    ],
    [
      'quota',
      { error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' } },
      429,
    ],
    ['quota', { error: { message: 'x', type: 'exceeded_current_quota_error' } }, 429],
    ['quota', google('You exceeded your current quota', day, retry('40s'))],
    ['quota', google('You exceeded your current quota', retry('3600s'))],
    ['quota', google('Your quota will reset after 5h2m1s.')],
    ['quota', { error: { message: 'Rate limit exceeded: free-models-per-day', code: 429 } }, 429],
    ['quota', { error: { message: 'Insufficient Balance' } }, 402],
    [
      'quota',
      { error: { message: 'Your credit balance is too low to access the API.', type: 'invalid_request_error' } },
      400,
    ],
    [
      'quota',
      { error: { type: 'usage_limit_reached', message: 'The usage limit has been reached', resets_in_seconds: 3600 } },
      429,
    ],
    [
      'quota',
      { code: 'x', error: 'Your team has either used all available credits or reached its monthly spending limit.' },
      403,
    ],
    ['policy', { error: { message: 'x', code: 'content_filter' } }, 400],
    [
      'policy',
      {
        error: {
          message: 'Invalid prompt: your prompt was flagged as potentially violating our usage policy.',
          code: 'invalid_prompt',
        },
      },
      400,
    ],
    ['policy', { code: 'DataInspectionFailed', message: 'Input data may contain inappropriate content.' }, 400],
    [
      'policy',
      {
        error: { code: 400, message: 'User location is not supported for the API use.', status: 'FAILED_PRECONDITION' },
      },
      400,
    ],
    ['policy', { error: { message: 'x', code: 'unsupported_country_region_territory' } }, 403],
    ['policy', { error: 'unavailable for legal reasons' }, 451],
    ['server', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
    ['server', { error: { message: 'x', type: 'engine_overloaded_error' } }, 429],
    [
      'server',
      google('No capacity available', { '@type': 'x/google.rpc.ErrorInfo', reason: 'MODEL_CAPACITY_EXHAUSTED' }),
    ],
    ['server', { error: { message: 'x', code: 'server_is_overloaded' } }],
    ['server', { error: 'an error was encountered while running the model' }],
    ['invalid', { error: { message: 'No endpoints found that support tool use.', code: 404 } }, 404],
    ['invalid', { error: { message: 'No endpoints found matching your data policy', code: 404 } }, 404],
    [
      'invalid',
      { error: { message: "Unsupported parameter: 'max_tokens'", code: 'unsupported_parameter', param: 'max_tokens' } },
      400,
    ],
    [
      'invalid',
      { error: { message: 'messages.3: "monthly quota, rate limit" is not allowed', type: 'invalid_request_error' } },
      400,
    ],
    [
      'invalid',
      { error: { message: 'max_tokens is too large: 100000. This model supports at most 4096 completion tokens' } },
      400,
    ],
    ['invalid', { error: { code: 500, message: 'tools param requires --jinja flag', type: 'server_error' } }, 500],
    ...[408, 409, 498, 499, 500, 502, 503, 504, 524, 529].map((status): [FaultKind, unknown, number] => [
      'server',
      { error: 'x' },
      status,
    ]),
    ...[301, 400, 404, 405, 415, 422, 501].map((status): [FaultKind, unknown, number] => [
      'invalid',
      { error: 'x' },
      status,
    ]),
  ]
  for (const [expected, value, status] of cases)
    assert.equal(kind(value, status), expected, JSON.stringify(value) + (status ?? ''))
})

test('T133 an error inside a 200 gets the status that its type stands for', () => {
  const overloaded = classifyVendorError(
    found({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    {
      status: 200,
    },
  )
  assert.deepEqual(overloaded, { kind: 'server', message: 'Overloaded', status: 529, code: 'overloaded_error' })
  const upstream = classifyVendorError(found({ error: { message: 'x', code: 429 } }), { status: 500 })
  assert.deepEqual([upstream.kind, upstream.status], ['rate', 500])
  assert.equal(classifyVendorError({ message: '' }, { status: 503 }).message, 'The server responded with 503.')
})

test('T159 overflow in the words of many vendors', () => {
  const phrases = [
    'prompt is too long: 213462 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens`',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.',
    'The input token count (1234567) exceeds the maximum number of tokens allowed (1048576).',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    'Please reduce the length of the messages or completion.',
    "This endpoint's maximum context length is 128000 tokens. However, you requested about 140000 tokens",
    'the request exceeds the available context size. try increasing the context size or enable context shift',
    'request (2009 tokens) exceeds the available context size (512 tokens), try increasing it',
    'Trying to keep the first 4096 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
    'The number of tokens to keep from the initial prompt is greater than the context length.',
    'Context size has been exceeded.',
    'prompt token count of 140000 exceeds the limit of 128000',
    'invalid params, context window exceeds limit (2013)',
    'Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)',
    'Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
    'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "Requested token count exceeds the model's maximum context length of 32768 tokens.",
    'Prompt exceeds max length',
    'Range of input length should be [1, 98304]',
    'Input is too long for requested model.',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens',
    'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000',
    'prompt too long; exceeded max context length by 123 tokens',
    'The prompt is too long: 140000, model maximum context length: 131071',
    'Current length is 10000 while limit is 8192. Please reduce the length of the messages or completion.',
    '400 status code (no body)',
    'prompt tokens too long',
  ]
  for (const message of phrases)
    assert.equal(classifyVendorError({ message }, { status: 400 }).kind, 'overflow', message)
  for (const code of [
    'context_length_exceeded',
    'exceed_context_size_error',
    'model_max_prompt_tokens_exceeded',
    'request_too_large',
    'context_window_exceeded',
  ]) {
    assert.equal(classifyVendorError({ message: 'x', code }, { status: 400 }).kind, 'overflow', code)
  }
  assert.equal(classifyVendorError({ message: '' }, { status: 413 }).kind, 'overflow')
  assert.equal(classifyVendorError({ message: 'x', code: 'context_length_exceeded' }).kind, 'overflow')
  const others = [
    'Too many tokens, please wait before trying again.',
    'This request would exceed your rate limit of 40,000 input tokens per minute.',
    'Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.',
    'You have sent too many tokens per day',
    'ThrottlingException: Too many tokens',
  ]
  for (const message of others) {
    assert.notEqual(classifyVendorError({ message }, { status: 429 }).kind, 'overflow', message)
    assert.notEqual(classifyVendorError({ message }).kind, 'overflow', message)
  }
})

test('T157 every form of a retry hint', () => {
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT'
  const none: ParsedVendorError = { message: 'x' }
  const headers: readonly [Record<string, string>, number | undefined][] = [
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '1234.5' }, 1235],
    [{ 'retry-after-ms': '900', 'retry-after': '1' }, 900],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT', date }, 30_000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 09:28:30 +0200', date }, 30_000],
    [{ 'retry-after': 'Wed Oct 21 07:28:30 2026', date }, 30_000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:00:00 GMT', date }, 0],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-5' }, 0],
    [{ 'retry-after': '36000' }, 36_000_000],
    [{ 'retry-after': '99999999' }, 99_999_999_000],
    [{ 'x-ratelimit-reset-requests': '6s' }, 6000],
    [{ 'x-ratelimit-reset-tokens': '1.57s' }, 1570],
    [{ 'x-ratelimit-reset-tokens': '2m59.56s' }, 179_560],
    [{ 'x-ratelimit-reset-requests': '20ms', 'x-ratelimit-reset-tokens': '6m0s' }, 360_000],
    [
      {
        'x-ratelimit-reset-requests': '3s',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-tokens': '6m0s',
        'x-ratelimit-remaining-tokens': '900',
      },
      3000,
    ],
    [{ 'x-ratelimit-reset': '1792567700', date }, 20_000],
    [{ 'x-ratelimit-reset': '1792567700000', date }, 20_000],
    [{ 'x-ratelimit-reset': '1792567700' }, undefined],
    [{ 'x-ratelimit-reset': '12' }, 12_000],
    [{ 'anthropic-ratelimit-tokens-reset': '2026-10-21T07:28:10Z', date }, 10_000],
    [{}, undefined],
  ]
  for (const [given, expected] of headers) assert.equal(parseRetryAfter(none, given), expected, JSON.stringify(given))

  const prose: readonly [string, number | undefined][] = [
    ['Please retry in 850ms.', 850],
    ['Please try again in 11.054s. Visit https://example.com', 11_054],
    ['Please try again in 2m59.56s.', 179_560],
    ['Your quota will reset after 39s.', 39_000],
    ['Your quota will reset after 1h2m3s', 3_723_000],
    ['Please retry after 6 seconds.', 6000],
    ['Please wait 1 minute and 5 seconds', 65_000],
    ['Limit resets in: 2 hours', 7_200_000],
    ['"retryDelay":"17s"', 17_000],
    ['Please retry shortly', undefined],
    ['Try again later. Error 503', undefined],
    ['retry 3 more models', undefined],
  ]
  for (const [message, expected] of prose) assert.equal(parseRetryAfter({ message }), expected, message)

  const details: readonly [unknown, number | undefined][] = [
    [[{ '@type': 'x/google.rpc.Help' }, { '@type': 'x/google.rpc.RetryInfo', retryDelay: '17s' }], 17_000],
    [[{ '@type': 'x/google.rpc.RetryInfo', retryDelay: '34.4s' }], 34_400],
    [[{ '@type': 'x/google.rpc.RetryInfo', retryDelay: { seconds: 3 } }], 3000],
    [[{ reason: 'x', metadata: { quotaResetDelay: '1h16m0.667923083s' } }], 4_560_668],
    [{ headers: { 'X-RateLimit-Reset': '1792567700000', 'X-RateLimit-Remaining': '0' } }, 20_000],
    [{ headers: { 'Retry-After': '7' } }, 7000],
    [{ resets_in_seconds: 60 }, 60_000],
    [{ retry_after: 1.5 }, 1500],
    [null, undefined],
    ['17s', undefined],
  ]
  for (const [given, expected] of details)
    assert.equal(parseRetryAfter({ message: 'x', details: given }, { date }), expected, JSON.stringify(given))
})

test('T157 counters that come with every answer are no hint for errors that are not about limits', () => {
  const headers = { 'x-ratelimit-reset-tokens': '6m0s' }
  assert.equal(classifyVendorError({ message: 'x' }, { status: 400, headers }).retryAfter, undefined)
  assert.equal(classifyVendorError({ message: 'x' }, { status: 503, headers }).retryAfter, undefined)
  assert.equal(classifyVendorError({ message: 'x' }, { status: 429, headers }).retryAfter, 360_000)
  assert.equal(classifyVendorError({ message: 'x' }, { status: 503, headers: { 'retry-after': '3' } }).retryAfter, 3000)
})

test('T107 an error is found in exactly those recordings that hold one', { skip: skipWithoutShared }, () => {
  const expected = new Map<string, FaultKind>([
    ['req_llm-older--openrouter-deepseek_deepseek_r1_0528_free-usage-0', 'rate'],
    ['vercel-ai--openai-error.1-stream-0', 'quota'],
    ['vercel-ai--google-429-retry-info-0', 'rate'],
    ['req_llm-older--google-gemini_1_5_pro-usage-0', 'auth'],
    ['rig--llamacpp-error_matrix-context_overflow_blocking-0', 'overflow'],
    ['req_llm-older--openrouter-mistralai_mistral_small_3_1_24b_instruct-tool_round_trip_2-0', 'server'],
    ['rig--venice-error_envelope-nonexistent_model_error_preserves_status_and_body-0', 'invalid'],
  ])
  let errors = 0
  for (const wire of ['gemini', 'code-assist', 'openai-chat', 'openai-responses', 'anthropic'] as const) {
    for (const { file, response, expect } of recordings(wire)) {
      const reader = createFramer(response.contentType)
      const frames = [...reader.push(new TextEncoder().encode(response.body)), ...reader.end()]
      const [error] = frames
        .map((frame) => (frame.kind === 'json' ? parseVendorError(frame.value) : undefined))
        .filter((one) => one !== undefined)
      assert.equal(error !== undefined, expect.error !== undefined, file)
      if (!error || !expect.error) continue
      errors++
      assert.ok(error.message.includes(expect.error.message), file)
      const fault = classifyVendorError(error, { status: response.status })
      const name = file.replace(/^.*\//, '').replace(/\.json$/, '')
      if (expected.has(name)) assert.equal(fault.kind, expected.get(name), file)
      expected.delete(name)
      if (response.status === 401) assert.equal(fault.kind, 'auth', file)
      if (response.status === 404 || response.status === 422) assert.equal(fault.kind, 'invalid', file)
      if (response.status === 429) assert.match(fault.kind, /rate|quota/, file)
    }
  }
  assert.ok(errors >= 67)
  assert.deepEqual([...expected.keys()], [])
})
