import assert from 'node:assert/strict'
import { createVerify, generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { JWT } from 'google-auth-library'
import type { JsonObject } from '../../src/model/json.ts'
import {
  createGoogleCredential,
  createMetadataCredential,
  getProjectId,
  CLOUD_PLATFORM_SCOPE,
  GOOGLE_TOKEN_URL,
} from '../../src/provider/auth/google-credentials.ts'
import { toGrantedCredential, parseStoredCredential } from '../../src/provider/auth/stored-credential.ts'
import { findDefaultModel, resolveModel, type CredentialSources } from '../../src/provider/resolve-model.ts'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import { providers } from '../../src/provider/providers.ts'
import type { Credential } from '../../src/provider/endpoint.ts'
import { answers } from './support/answers.ts'
import { answerOf, eventsOf } from './support/ask.ts'
import { reply, serve, stream } from './support/server.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const SERVICE = {
  type: 'service_account',
  project_id: 'my-project',
  private_key_id: 'key-1',
  private_key: privateKey,
  client_email: 'robot@my-project.iam.gserviceaccount.com',
}
const PERSON = {
  type: 'authorized_user',
  client_id: 'id',
  client_secret: 'GOCSPX-secret',
  refresh_token: '1//0refresh',
}

function credential(file: JsonObject, now?: () => number): Credential {
  const made = createGoogleCredential(file, { httpClient: createHttpClient({}), ...(now && { now }) })
  assert.ok('read' in made, JSON.stringify(made))
  return made
}

function fieldsOf(text: unknown): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(String(text)))
}

function claimsOf(assertion: string): [head: Record<string, unknown>, claims: Record<string, unknown>] {
  const [head = '', claims = '', signature = ''] = assertion.split('.')
  const genuine = createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url')
  assert.ok(genuine, 'the signature is wrong')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  return [read(head), read(claims)]
}

describe('tokens', () => {
  test('of a person: refreshed at the token endpoint, kept, and fetched anew before they expire', async (t) => {
    const { url, heard } = await serve(t, (response, _heard, turn) =>
      reply(response, { access_token: `ya29.${turn}`, expires_in: 3600, token_type: 'Bearer' }),
    )
    let now = 1_000_000
    const { read, headers } = credential({ ...PERSON, token_uri: `${url}/token`, quota_project_id: 'payer' }, () => now)
    assert.deepEqual(await Promise.all([read(), read(), read()]), ['ya29.0', 'ya29.0', 'ya29.0'])
    now += 50 * 60_000
    assert.equal(await read(), 'ya29.0')
    now += 6 * 60_000
    assert.equal(await read(), 'ya29.1', 'it is good for four minutes only, which is too little')
    assert.deepEqual(headers, { 'x-goog-user-project': 'payer' })
    assert.equal(heard.length, 2)
    const [first] = heard
    assert.deepEqual([first?.method, first?.url], ['POST', '/token'])
    assert.equal(first?.headers['content-type'], 'application/x-www-form-urlencoded')
    assert.deepEqual(fieldsOf(first?.body['unreadable']), {
      grant_type: 'refresh_token',
      client_id: 'id',
      client_secret: 'GOCSPX-secret',
      refresh_token: '1//0refresh',
    })
  })

  test('of a service account: a signed assertion, with the claims of Google’s own library', async (t) => {
    const { url, heard } = await serve(t, (response) => reply(response, { access_token: 'ya29.x', expires_in: 3600 }))
    const at = Math.floor(Date.now() / 1000) * 1000
    const { read } = credential({ ...SERVICE, token_uri: `${url}/token` }, () => at)
    assert.equal(await read(), 'ya29.x')
    const ours = fieldsOf(heard[0]?.body['unreadable'])
    assert.equal(ours['grant_type'], 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [head, claims] = claimsOf(ours['assertion'] ?? '')
    assert.deepEqual(head, { alg: 'RS256', typ: 'JWT', kid: 'key-1' })
    assert.deepEqual(claims, {
      iss: SERVICE.client_email,
      scope: CLOUD_PLATFORM_SCOPE,
      aud: `${url}/token`,
      iat: at / 1000,
      exp: at / 1000 + 3600,
    })

    const theirs = await assertionOfTheirs()
    const [theirHead, theirClaims] = claimsOf(theirs['assertion'] ?? '')
    assert.equal(theirs['grant_type'], ours['grant_type'])
    assert.equal(theirHead['alg'], head['alg'])
    assert.deepEqual(Object.keys(theirClaims).toSorted(), Object.keys(claims).toSorted())
    assert.deepEqual(
      [theirClaims['iss'], theirClaims['scope'], theirClaims['aud']],
      [claims['iss'], claims['scope'], GOOGLE_TOKEN_URL],
    )
    assert.equal(Number(theirClaims['exp']) - Number(theirClaims['iat']), 3600)
  })

  test('of somebody who may act as a service account', async (t) => {
    const { url, heard } = await serve(t, (response, { url: asked }) =>
      asked === '/token'
        ? reply(response, { access_token: 'ya29.source', expires_in: 3600 })
        : reply(response, { accessToken: 'ya29.robot', expireTime: '2100-01-01T00:00:00Z' }),
    )
    const { read } = credential({
      type: 'impersonated_service_account',
      service_account_impersonation_url: `${url}/v1/projects/-/serviceAccounts/robot:generateAccessToken`,
      delegates: ['a'],
      source_credentials: { ...PERSON, token_uri: `${url}/token` },
    })
    assert.equal(await read(), 'ya29.robot')
    assert.equal(heard[1]?.headers.authorization, 'Bearer ya29.source')
    assert.deepEqual(heard[1]?.body, { delegates: ['a'], scope: [CLOUD_PLATFORM_SCOPE], lifetime: '3600s' })
  })

  test('of the machine: only from a server that says that it is Google’s', async (t) => {
    const { url, heard } = await serve(t, (response, _heard, turn) =>
      reply(
        response,
        { access_token: 'ya29.m', expires_in: 100 },
        200,
        turn === 0 ? { 'Metadata-Flavor': 'Google' } : {},
      ),
    )
    const host = new URL(url).host
    assert.equal(await createMetadataCredential(host, { httpClient: createHttpClient({}) }).read(), 'ya29.m')
    assert.deepEqual(
      [heard[0]?.method, heard[0]?.url, heard[0]?.headers['metadata-flavor'], heard[0]?.headers['content-length']],
      ['GET', '/computeMetadata/v1/instance/service-accounts/default/token', 'Google', undefined],
    )
    await assert.rejects(
      async () => await createMetadataCredential(host, { httpClient: createHttpClient({}) }).read(),
      /not a metadata server/,
    )
  })

  test('what is wrong is said in a sentence, and no secret is in it', async (t) => {
    const { url } = await serve(t, (response) =>
      reply(
        response,
        { error: 'invalid_grant', error_description: 'Token 1//0refresh-that-was-sent-to-me revoked.' },
        400,
      ),
    )
    const { read } = credential({ ...PERSON, token_uri: url })
    await assert.rejects(async () => await read(), {
      message: 'the credential is no longer valid (Token [secret] revoked.); sign in again.',
    })
    const bad = credential({ ...SERVICE, private_key: 'nonsense', token_uri: url })
    await assert.rejects(async () => await bad.read(), {
      message: 'its private_key is invalid; create a new key file.',
    })
    const problem = (file: JsonObject): string => {
      const made = createGoogleCredential(file, { httpClient: createHttpClient({}) })
      return 'problem' in made ? made.problem : 'none'
    }
    assert.equal(problem({ type: 'authorized_user', client_id: 'a', client_secret: 'b' }), 'It has no refresh_token.')
    assert.match(
      problem({ type: 'external_account' }),
      /^Its type, external_account, is not supported; set GOOGLE_CLOUD/,
    )
    assert.match(problem({ ...PERSON, token_uri: 'http://evil.example/token' }), /not https/)
    assert.match(problem({}), /no type/)
  })
})

/** What Google's library would send, caught before it leaves. */
async function assertionOfTheirs(): Promise<Record<string, string>> {
  let body: unknown
  const client = new JWT({
    email: SERVICE.client_email,
    key: privateKey,
    keyId: 'key-1',
    scopes: [CLOUD_PLATFORM_SCOPE],
  })
  const catching = async (options: { data?: unknown; body?: unknown }) => {
    body = options.data ?? options.body
    await Promise.resolve()
    return { data: { access_token: 'x', expires_in: 3600, token_type: 'Bearer' }, status: 200, headers: {} }
  }
  ;(client.transporter as unknown as { request: unknown }).request = catching
  await client.getAccessToken()
  return typeof body === 'string' || body instanceof URLSearchParams ? fieldsOf(body) : (body as Record<string, string>)
}

describe('where they are used', () => {
  const signIns = (more: Partial<CredentialSources>): CredentialSources => ({
    stored: () => undefined,
    google: () => undefined,
    ...more,
  })

  test('a variable comes before what is stored, and that before what the machine has', () => {
    const looked: string[] = []
    const all = signIns({
      stored(row) {
        looked.push(row.id)
        return row.id === 'groq' ? { key: { style: 'bearer', read: () => 'stored' } } : undefined
      },
      google: () => ({ key: { style: 'bearer', read: () => 'adc' }, project: 'from-adc' }),
    })
    const key = (name: string, env = {}): unknown => {
      const target = resolveModel(name, env, providers, all)
      return 'provider' in target ? target.credential?.read() : target.problem
    }
    assert.equal(key('groq/x', { GROQ_API_KEY: 'variable' }), 'variable')
    assert.deepEqual(looked, [], 'nobody looks while a variable is set')
    assert.equal(key('groq/x'), 'stored')
    assert.match(String(key('openai/x')), /dragoman login openai/)
    assert.equal(key('vertex/x'), 'adc')
    assert.equal(key('vertex/x', { GOOGLE_API_KEY: 'express' }), 'express')
    assert.equal(findDefaultModel({ OPENAI_API_KEY: 'k' }, providers, all), 'openai/gpt-6-sol')
    assert.equal(findDefaultModel({}, providers, all), 'groq/openai/gpt-oss-120b')
    assert.equal(findDefaultModel({}, providers, signIns({ google: all.google })), undefined)
    assert.match(findDefaultModel({ GOOGLE_GENAI_USE_VERTEXAI: 'true' }, providers, all) ?? '', /^vertex\//)
  })

  test('Vertex with a service account: its project in the address, its token in the header, anew after a 401', async (t) => {
    const { url, heard } = await serve(t, (response, { url: asked, headers }, turn) => {
      if (asked === '/token') return reply(response, { access_token: `ya29.token-number-${turn}`, expires_in: 3600 })
      if (headers.authorization === 'Bearer ya29.token-number-0')
        return reply(response, { error: { code: 401, message: 'expired', status: 'UNAUTHENTICATED' } }, 401)
      return stream(response, answers.gemini.text('Yes.').events)
    })
    const post = createHttpClient({})
    const google = (): ReturnType<CredentialSources['google']> => {
      const file = { ...SERVICE, token_uri: `${url}/token` }
      const key = createGoogleCredential(file, { httpClient: post })
      return 'problem' in key ? undefined : { key, project: getProjectId(file) ?? '' }
    }
    const env = { DRAGOMAN_VERTEX_BASE_URL: url, GOOGLE_CLOUD_LOCATION: 'europe-west4' }
    const target = resolveModel('vertex/gemini-3.8-flash', env, providers, signIns({ google }))
    assert.ok('provider' in target)
    const model = createModel(target, { httpClient: post })
    assert.equal((await answerOf(model)).turn.finish.reason, 'stop')
    assert.deepEqual(
      heard.map((one) => [one.url.split('/').at(-1), one.headers.authorization]),
      [
        ['token', undefined],
        ['gemini-3.8-flash:streamGenerateContent?alt=sse', 'Bearer ya29.token-number-0'],
        ['token', undefined],
        ['gemini-3.8-flash:streamGenerateContent?alt=sse', 'Bearer ya29.token-number-2'],
      ],
    )
    assert.match(heard[3]?.url ?? '', /^\/v1beta1\/projects\/my-project\/locations\/europe-west4\/publishers\/google\//)
    await answerOf(model)
    assert.equal(heard.length, 5, 'the new token is kept')
  })

  test('a token that is refused twice is refused', async (t) => {
    const { url, heard } = await serve(t, (response, { url: asked }) =>
      asked === '/token'
        ? reply(response, { access_token: 'ya29.never-good-enough', expires_in: 3600 })
        : reply(response, { error: { code: 401, message: 'no', status: 'UNAUTHENTICATED' } }, 401),
    )
    const grant = parseStoredCredential({
      kind: 'google',
      credential: { ...PERSON, token_uri: `${url}/token` },
      project: 'p',
    })
    assert.ok(grant)
    const row = providers.find(({ id }) => id === 'vertex')
    assert.ok(row)
    const post = createHttpClient({})
    const granted = toGrantedCredential(grant, row, { httpClient: post })
    assert.ok('key' in granted)
    const target = resolveModel(
      'vertex/x',
      { DRAGOMAN_VERTEX_BASE_URL: url },
      providers,
      signIns({ stored: () => granted }),
    )
    assert.ok('provider' in target)
    const finish = (await eventsOf(createModel(target, { httpClient: post }))).at(-1)
    assert.equal(finish?.type === 'finish' && finish.fault?.kind, 'auth')
    assert.equal(heard.length, 4)
  })
})
