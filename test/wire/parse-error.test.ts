import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classifyVendorError } from '../../src/wire/errors/classify-error.ts'
import { type ParsedVendorError, parseVendorError } from '../../src/wire/errors/parse-error.ts'

/** The error in a frame, which must be there. */
function found(value: unknown): ParsedVendorError {
  const error = parseVendorError(value)
  assert.ok(error, JSON.stringify(value))
  return error
}

test('T107 every vendor’s shape of an error is found', () => {
  const shapes: readonly [unknown, Partial<ParsedVendorError>][] = [
    [
      { error: { message: 'm', type: 'invalid_request_error', code: 'bad_thing', param: 'tools[0]' } },
      { message: 'm', type: 'invalid_request_error', code: 'bad_thing', param: 'tools[0]' },
    ],
    [
      { error: { message: 'm', code: 502, metadata: { provider_name: 'x' } }, choices: [] },
      { message: 'm', status: 502 },
    ],
    [{ error: 'text' }, { message: 'text' }],
    [
      { code: 'Client specified an invalid argument', error: 'text' },
      { message: 'text', code: 'Client specified an invalid argument' },
    ],
    [
      { error: 'Not Found', message: 'no route', statusCode: 404 },
      { message: 'Not Found: no route', status: 404 },
    ],
    [
      { error: 'invalid_grant', error_description: 'expired' },
      { message: 'invalid_grant: expired', code: 'invalid_grant' },
    ],
    [
      { error: 'bad', error_type: 'validation' },
      { message: 'bad', type: 'validation' },
    ],
    [{ error: true, message: 'm' }, { message: 'm' }],
    [
      [{ error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED' } }],
      { message: 'm', status: 429, code: 'RESOURCE_EXHAUSTED' },
    ],
    [
      { response: { error: { code: 404, message: 'm', status: 'NOT_FOUND' } }, traceId: 'x' },
      { message: 'm', status: 404 },
    ],
    [
      { object: 'error', message: 'm', type: 'invalid_request_error', code: '3280' },
      { message: 'm', code: '3280' },
    ],
    [
      { object: 'error', message: { detail: [{ loc: ['body', 'messages', 2], msg: 'bad' }] }, type: 'x' },
      { message: 'messages.2: bad', param: 'messages.2' },
    ],
    [{ detail: 'Invalid API Key' }, { message: 'Invalid API Key' }],
    [
      { detail: [{ loc: ['body', 'tool_choice'], msg: 'Input should be a string', type: 'string_type', input: {} }] },
      { message: 'tool_choice: Input should be a string', param: 'tool_choice' },
    ],
    [{ detail: { error: 'inner' } }, { message: 'inner' }],
    [
      { errors: [{ message: 'AiError', code: 3043 }], success: false, result: {}, messages: [] },
      { message: 'AiError', code: '3043' },
    ],
    [
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      { message: 'Overloaded', type: 'overloaded_error' },
    ],
    [
      { error: { code: 400, message: 'm', type: 'exceed_context_size_error', n_ctx: 2048 } },
      { status: 400, type: 'exceed_context_size_error', details: { n_ctx: 2048 } },
    ],
    [
      { code: 'InvalidParameter', message: 'm', request_id: 'r' },
      { message: 'm', code: 'InvalidParameter' },
    ],
    [
      { type: 'error', sequence_number: 3, code: 'rate_limit_exceeded', message: 'm', param: null },
      { message: 'm', code: 'rate_limit_exceeded' },
    ],
    [
      { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error', message: 'm' } } },
      { message: 'm', code: 'server_error' },
    ],
    [
      { choices: [{ finish_reason: 'error', delta: {}, error: { code: 502, message: 'm' } }] },
      { message: 'm', status: 502 },
    ],
    [{ choices: [{ delta: {} }, { error: 'second' }] }, { message: 'second' }],
    [
      { message: 'The security token is invalid', __type: 'UnrecognizedClientException' },
      { type: 'UnrecognizedClientException' },
    ],
    [{ message: 'no Route matched' }, { message: 'no Route matched' }],
    [
      { type: 'about:blank', title: 'Not Found', status: 404, detail: 'm' },
      { message: 'm', status: 404 },
    ],
    [
      { base_resp: { status_code: 1008, status_msg: 'insufficient balance' }, choices: null },
      { message: 'insufficient balance', code: '1008' },
    ],
    [{ error_code: 336003, error_msg: 'm' }, { message: 'm' }],
    [
      { code: 500, msg: '404 NOT_FOUND', success: false },
      { message: '404 NOT_FOUND', status: 500 },
    ],
    [{ type: 'error' }, { message: 'error' }],
    [{ error: { code: 'x' } }, { message: 'x', code: 'x' }],
    [{ error: { odd: 1 } }, { message: '{"odd":1}' }],
  ]
  for (const [value, expected] of shapes) {
    const error = found(value)
    for (const [key, field] of Object.entries(expected))
      assert.deepEqual(error[key as keyof ParsedVendorError], field, JSON.stringify(value))
  }
})

test('T107 what an upstream said inside a gateway’s error is shown', () => {
  const raw = (value: unknown, code = 502) =>
    found({ error: { message: 'Provider returned error', code, metadata: { raw: value } } })
  const grok = raw('{"code":"Client specified an invalid argument","error":"Invalid request content"}', 400)
  assert.equal(grok.message, 'Provider returned error: Invalid request content')
  assert.equal(grok.code, 'Client specified an invalid argument')
  assert.equal(raw('rate-limited upstream').message, 'Provider returned error: rate-limited upstream')
  assert.equal(raw({ error: { message: 'deep', code: 400 } }).status, 400)
  assert.equal(raw({ retryable: true }).message, 'Provider returned error')
  const google = found({
    error: { message: '{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}', code: 500 },
  })
  assert.equal(google.message, 'API key not valid')
  assert.equal(google.status, 400)
  const wrapped = found({ error: { message: 'ConnectionError: {"error":{"message":"bad","code":400}}', code: 502 } })
  assert.equal(wrapped.status, 400)
  assert.match(wrapped.message, /^ConnectionError: /)
  let nest: unknown = { error: 'end' }
  for (let at = 0; at < 20_000; at++) nest = { error: { message: 'm', metadata: { raw: nest } } }
  assert.ok(parseVendorError(nest))
})

test('T48 hostile values in an error do no harm', () => {
  const trap = JSON.parse('{"toString":1,"valueOf":1,"__proto__":{"message":"x"}}') as unknown
  const fields = ['code', 'status', 'message', 'type', 'param', 'details', 'metadata', 'failed_generation']
  for (const field of fields) {
    for (const value of [trap, [trap], { headers: { 'retry-after': trap }, raw: trap }]) {
      const error = found({ error: { other: 'm', [field]: value }, status: trap, code: trap })
      assert.ok(classifyVendorError(error).kind)
    }
  }
  assert.ok(found({ base_resp: { status_code: 5, status_msg: trap } }))
})

test('T107 ordinary frames are no errors', () => {
  const frames: readonly unknown[] = [
    {
      id: 'x',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { content: 'error' }, finish_reason: null }],
      error: null,
    },
    { choices: [], usage: { total_tokens: 1 } },
    { choices: [{ delta: {}, error: null }], detail: 'x', message: 'y', code: 'z' },
    { candidates: [{ content: { parts: [{ text: 'x' }] } }], message: 'x' },
    { promptFeedback: { blockReason: 'SAFETY' } },
    { response: { candidates: [], error: null }, traceId: 'x' },
    { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [] } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } },
    { type: 'ping' },
    { type: 'ping', message: 'still here' },
    { type: 'heartbeat', message: 'still here' },
    { type: 'response.created', response: { id: 'r', error: null, status: 'in_progress' } },
    { type: 'response.output_item.done', item: { type: 'mcp_call', error: 'x' }, message: 'x' },
    { id: 'r', object: 'response', status: 'completed', error: null, output: [] },
    { model: 'm', message: { role: 'assistant', content: 'x' }, done: false },
    { success: true, message: 'ok', data: { choices: [] } },
    { code: 0, message: 'ok' },
    { base_resp: { status_code: 0, status_msg: '' }, choices: [] },
    { error: {} },
    { error: false },
    { error: '' },
    {},
    [],
    [1],
    null,
    'error',
    500,
  ]
  for (const frame of frames) assert.equal(parseVendorError(frame), undefined, JSON.stringify(frame))
})
