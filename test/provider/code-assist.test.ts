import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import manifest from '../../package.json' with { type: 'json' }
import { onboardCodeAssist } from '../../src/provider/auth/code-assist-onboarding.ts'
import { resolveModel } from '../../src/provider/resolve-model.ts'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import type { Environment, Endpoint } from '../../src/provider/endpoint.ts'
import { answers } from './support/answers.ts'
import { answerOf, question } from './support/ask.ts'
import { hastyClock } from './support/clock.ts'
import { type Heard, reply, serve, stream } from './support/server.ts'

const TOKEN = 'ya29.canary-token-1234567890'
const METADATA = { ideType: 'IDE_UNSPECIFIED', platform: 'PLATFORM_UNSPECIFIED', pluginType: 'GEMINI' }
const AGENT = `dragoman/${manifest.version} (${process.platform}; ${process.arch})`

function aimed(url: string, env: Environment = {}): Endpoint {
  const target = resolveModel('code-assist/gemini-2.5-pro', {
    GOOGLE_CLOUD_ACCESS_TOKEN: TOKEN,
    CODE_ASSIST_ENDPOINT: url,
    ...env,
  })
  assert.ok('provider' in target, JSON.stringify(target))
  return target
}

const shown = ({ method, url, body }: Heard) => [method, url, body]

describe('entering', () => {
  test('somebody who has a tier and a project: one question', async (t) => {
    const { url, heard } = await serve(t, (response) =>
      reply(response, { currentTier: { id: 'standard-tier' }, cloudaicompanionProject: 'theirs' }),
    )
    const found = await onboardCodeAssist(aimed(url, { GOOGLE_CLOUD_PROJECT: 'mine' }), {
      httpClient: createHttpClient({}),
    })
    assert.deepEqual(found, { tier: 'standard-tier', project: 'theirs' })
    const [asked] = heard
    assert.ok(asked)
    assert.deepEqual(shown(asked), [
      'POST',
      '/v1internal:loadCodeAssist',
      { cloudaicompanionProject: 'mine', metadata: { ...METADATA, duetProject: 'mine' } },
    ])
    assert.equal(asked.headers.authorization, `Bearer ${TOKEN}`)
    assert.equal(asked.headers['user-agent'], AGENT)
    assert.equal(asked.headers['x-gemini-api-privileged-user-id'], undefined)
  })

  test('somebody who has none is signed up, and the operation is looked at until it is done', async (t) => {
    const { url, heard } = await serve(t, (response, { url: asked }, turn) => {
      if (asked.endsWith('loadCodeAssist'))
        return reply(response, { allowedTiers: [{ id: 'free-tier' }, { id: 'standard-tier', isDefault: true }] })
      if (turn < 4) return reply(response, { name: 'operations/op-1', done: false })
      return reply(response, { done: true, response: { cloudaicompanionProject: { id: 'made-for-me' } } })
    })
    const clock = hastyClock()
    const found = await onboardCodeAssist(aimed(url, { GOOGLE_CLOUD_PROJECT: 'mine' }), {
      httpClient: createHttpClient({}),
      clock,
    })
    assert.deepEqual(found, { tier: 'standard-tier', project: 'made-for-me' })
    assert.deepEqual(heard.slice(1).map(shown), [
      [
        'POST',
        '/v1internal:onboardUser',
        {
          tierId: 'standard-tier',
          cloudaicompanionProject: 'mine',
          metadata: { ...METADATA, duetProject: 'mine' },
        },
      ],
      ...[1, 2, 3].map(() => ['GET', '/v1internal/operations/op-1', { unreadable: '' }]),
    ])
    assert.deepEqual(clock.waits, [5000, 5000, 5000])
    for (const { headers } of heard) assert.equal(headers.authorization, `Bearer ${TOKEN}`)
  })

  test('the free tier names no project', async (t) => {
    const { url, heard } = await serve(t, (response, { url: asked }) =>
      asked.endsWith('loadCodeAssist')
        ? reply(response, { allowedTiers: [{ id: 'free-tier', isDefault: true }] })
        : reply(response, { done: true, response: { cloudaicompanionProject: { id: 'of-google' } } }),
    )
    const found = await onboardCodeAssist(aimed(url, { GOOGLE_CLOUD_PROJECT: 'mine' }), {
      httpClient: createHttpClient({}),
    })
    assert.deepEqual(found, { tier: 'free-tier', project: 'of-google' })
    assert.equal(heard[1]?.body['cloudaicompanionProject'], undefined)
  })

  test('behind a company’s fence one is in the standard tier', async (t) => {
    const error = { code: 403, message: 'no', details: [{ reason: 'SECURITY_POLICY_VIOLATED' }] }
    const { url } = await serve(t, (response) => reply(response, { error }, 403))
    const found = await onboardCodeAssist(aimed(url, { GOOGLE_CLOUD_PROJECT: 'mine' }), {
      httpClient: createHttpClient({}),
    })
    assert.deepEqual(found, { tier: 'standard-tier', project: 'mine' })
  })

  const refusals: [string, Environment, unknown, number, RegExp][] = [
    ['a number', { GOOGLE_CLOUD_PROJECT: '123456' }, {}, 200, /not its number/],
    ['no project', {}, { currentTier: { id: 'standard-tier' } }, 200, /set GOOGLE_CLOUD_PROJECT/],
    [
      'no tier',
      {},
      {
        ineligibleTiers: [
          { reasonCode: 'AGE', reasonMessage: 'You are too young.', validationUrl: 'https://g.example/v' },
        ],
      },
      200,
      /no tier is available to you\. You are too young\. https:\/\/g\.example\/v/,
    ],
    [
      'an error',
      {},
      { error: { message: `bad token ${TOKEN}` } },
      500,
      /loadCodeAssist with 500: bad token \[secret\]\./,
    ],
  ]
  for (const [name, env, answer, status, words] of refusals) {
    test(`what the person must do first: ${name}`, async (t) => {
      const { url } = await serve(t, (response) => reply(response, answer, status))
      await assert.rejects(onboardCodeAssist(aimed(url, env), { httpClient: createHttpClient({}) }), words)
    })
  }
})

describe('asking', () => {
  const request = question('How is the weather in Oslo?', { session: 'sess-1', prompt: 'sess-1#1' })

  for (const streamed of [true, false]) {
    test(`the envelope, ${streamed ? 'streamed' : 'whole'}; entered once, before the first question`, async (t) => {
      const { text } = answers['code-assist']
      const { url, heard } = await serve(t, (response, { url: asked }) => {
        if (asked.endsWith('loadCodeAssist'))
          return reply(response, { currentTier: { id: 'standard-tier' }, cloudaicompanionProject: 'theirs' })
        return streamed ? stream(response, text('Fine.').events) : reply(response, text('Fine.').whole)
      })
      const model = createModel(aimed(url, { DRAGOMAN_INSTALLATION_ID: 'install-1' }), {
        httpClient: createHttpClient({}),
      })
      for (const _time of [1, 2]) {
        const { turn } = await answerOf(model, { ...request, params: { stream: streamed } })
        assert.deepEqual(turn.parts, [{ kind: 'text', text: 'Fine.' }])
      }
      const place = streamed ? '/v1internal:streamGenerateContent?alt=sse' : '/v1internal:generateContent'
      assert.deepEqual(
        heard.map((one) => one.url),
        ['/v1internal:loadCodeAssist', place, place],
      )
      const [, first] = heard
      assert.ok(first)
      const { body, headers } = first
      assert.deepEqual(
        [body['model'], body['project'], body['user_prompt_id']],
        ['gemini-2.5-pro', 'theirs', 'sess-1#1'],
      )
      const inner = body['request'] as Record<string, unknown>
      assert.equal(inner['session_id'], 'sess-1')
      assert.deepEqual(inner['contents'], [{ role: 'user', parts: [{ text: 'How is the weather in Oslo?' }] }])
      assert.equal(headers['authorization'], `Bearer ${TOKEN}`)
      assert.equal(headers['user-agent'], AGENT)
      assert.equal(headers['x-gemini-api-privileged-user-id'], 'install-1', 'it was switched on')
    })
  }

  test('whoever names the project is not asked for it; the id of the installation stays at home', async (t) => {
    const { url, heard } = await serve(t, (response) => stream(response, answers['code-assist'].text('Fine.').events))
    await answerOf(
      createModel(aimed(url, { GOOGLE_CLOUD_PROJECT: 'mine' }), { httpClient: createHttpClient({}) }),
      request,
    )
    assert.deepEqual(
      heard.map((one) => [one.url, one.body['project'], one.headers['x-gemini-api-privileged-user-id']]),
      [['/v1internal:streamGenerateContent?alt=sse', 'mine', undefined]],
    )
  })

  test('a sign-in that fails is a fault, and is tried again with the next question', async (t) => {
    const { url } = await serve(t, (response, _heard, turn) => {
      if (turn === 0) return reply(response, { error: { message: 'down' } }, 503)
      if (turn === 1)
        return reply(response, { currentTier: { id: 'standard-tier' }, cloudaicompanionProject: 'theirs' })
      return stream(response, answers['code-assist'].text('Fine.').events)
    })
    const model = createModel(aimed(url), { httpClient: createHttpClient({}) })
    const { turn } = await answerOf(model, request)
    assert.deepEqual(turn.finish.fault, {
      kind: 'auth',
      message: 'The sign-in to code-assist failed: Code Assist answered loadCodeAssist with 503: down.',
    })
    assert.equal((await answerOf(model, request)).turn.finish.reason, 'stop')
  })
})
