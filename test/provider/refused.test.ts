import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import { aimed, answerOf } from './support/ask.ts'
import { serve } from './support/server.ts'

const PAGE = '<!doctype html><html><head><title>Access\n denied</title></head></html>'
const GROQ = 'set GROQ_API_KEY, or sign in with dragoman login groq'

/** What a server answers, and the sentence that a person reads. */
const CASES: readonly [name: string, status: number, body: unknown, told: RegExp][] = [
  [
    'a key that is refused',
    401,
    { error: { message: 'Invalid API key', code: 'invalid_api_key' } },
    new RegExp(`^groq rejected the sign-in: Invalid API key\\. To sign in, ${GROQ}\\.$`),
  ],
  [
    'the same without a word',
    401,
    '',
    new RegExp(`^groq \\(HOST\\) rejected the sign-in: it answered 401\\. .*${GROQ}`),
  ],
  ['a web page of somebody between', 403, PAGE, /^groq \(HOST\) rejected the sign-in: .*web page \(“Access denied”\)/],
  [
    'too many requests',
    429,
    { error: { message: 'Rate limit reached', type: 'rate_limit_error' } },
    /^The rate limit of groq is reached: Rate limit reached\.$/,
  ],
  [
    'no money, which is something else',
    429,
    { error: { message: 'You exceeded your current quota.', code: 'insufficient_quota' } },
    /^The quota of groq is used up: You exceeded your current quota\. Another model may still work\.$/,
  ],
  [
    'a model that is not there',
    404,
    { error: { message: 'The model `m` does not exist', code: 'model_not_found' } },
    /^The model `m` does not exist\. Check the model with dragoman models groq, or the address in DRAGOMAN_GROQ_BASE_URL\.$/,
  ],
  ['an address that is not there', 404, '', /nothing at \/v1\/chat\/completions: .*Check.*DRAGOMAN_GROQ_BASE_URL\.$/],
  ['a line of text', 404, '404 page not found\n', /^404 page not found\. Check the model/],
  ['a server that is down', 503, '', /^groq \(HOST\) answered 503, without an error message\.$/],
  [
    'the page of its proxy',
    503,
    PAGE,
    /^groq \(HOST\) answered 503, with a web page \(“Access denied”\), without an error message/,
  ],
  ['what is wrong with a request stays in its own words', 400, { error: { message: 'Bad tools' } }, /^Bad tools$/],
]

describe('what a server says when it refuses: whose it is, and what can be done', () => {
  for (const [name, status, body, told] of CASES) {
    test(name, async (t) => {
      const { url } = await serve(t, (response) => {
        const type = typeof body === 'string' ? (body.startsWith('<') ? 'text/html' : 'text/plain') : 'application/json'
        response.writeHead(status, { 'content-type': type })
        response.end(typeof body === 'string' ? body : JSON.stringify(body))
      })
      const { turn } = await answerOf(createModel(aimed('groq/m', `${url}/v1`), { httpClient: createHttpClient({}) }))
      assert.match((turn.finish.fault?.message ?? '').replace(new URL(url).host, 'HOST'), told)
    })
  }

  for (const [row, base] of [
    ['gemini', ''],
    ['anthropic', ''],
    ['openai', '/v1'],
  ] as const) {
    test(`a page on the wire of ${row}`, async (t) => {
      const { url } = await serve(t, (response) => {
        response.writeHead(503, { 'content-type': 'text/html' })
        response.end(PAGE)
      })
      const { turn } = await answerOf(
        createModel(aimed(`${row}/m`, `${url}${base}`), { httpClient: createHttpClient({}) }),
      )
      assert.match(turn.finish.fault?.message ?? '', new RegExp(`^${row} \\(.*\\) answered 503, with a web page`))
    })
  }
})
