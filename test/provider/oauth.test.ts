import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { parseOAuthClient, signInWithBrowser } from '../../src/provider/auth/oauth-sign-in.ts'
import { startRedirectServer } from '../../src/provider/auth/redirect-server.ts'
import { createHttpClient } from '../../src/provider/http/node-http-client.ts'
import { reply, serve } from './support/server.ts'

const FILE = { client_id: 'me.apps', client_secret: 'GOCSPX-of-my-own-client-1', redirect_uris: ['http://localhost'] }

describe('signing in with one’s own client', () => {
  test('consent in the browser, a state, PKCE, and a credential as gcloud stores it', async (t) => {
    const { url, heard } = await serve(t, (response) =>
      reply(response, { access_token: 'ya29.first', refresh_token: '1//0for-ever', expires_in: 3600 }),
    )
    const client = parseOAuthClient({ installed: { ...FILE, auth_uri: `${url}/auth`, token_uri: `${url}/token` } })
    assert.ok('id' in client)
    let consent = new URL('http://x')
    const visits: number[] = []
    const credential = await signInWithBrowser(client, createHttpClient({}), (address) => {
      consent = new URL(address)
      void browse(consent).then((statuses) => visits.push(...statuses))
    })
    assert.deepEqual(credential, {
      type: 'authorized_user',
      client_id: 'me.apps',
      client_secret: FILE.client_secret,
      refresh_token: '1//0for-ever',
      token_uri: `${url}/token`,
    })
    const asked = Object.fromEntries(consent.searchParams)
    assert.equal(consent.pathname, '/auth')
    assert.deepEqual(
      [asked['response_type'], asked['client_id'], asked['access_type'], asked['code_challenge_method']],
      ['code', 'me.apps', 'offline', 'S256'],
    )
    assert.match(asked['redirect_uri'] ?? '', /^http:\/\/127\.0\.0\.1:\d+\/oauth2callback$/)
    assert.ok((asked['state'] ?? '').length >= 64)
    assert.equal(heard.length, 1)
    const sent = Object.fromEntries(new URLSearchParams(String(heard[0]?.body['unreadable'])))
    assert.deepEqual(
      [heard[0]?.url, sent['grant_type'], sent['code'], sent['redirect_uri'], sent['client_secret']],
      ['/token', 'authorization_code', 'the-code', asked['redirect_uri'], FILE.client_secret],
    )
    const challenge = createHash('sha256')
      .update(sent['code_verifier'] ?? '')
      .digest('base64url')
    assert.equal(challenge, asked['code_challenge'])
    assert.ok(!consent.href.includes(FILE.client_secret), 'the secret is in no address')
  })

  test('who comes without the state, or under another name, gets nothing', async (t) => {
    const redirect = await startRedirectServer('right')
    t.after(() => redirect.close())
    assert.equal(await visit(`${redirect.url}?state=wrong&code=evil`), 400)
    assert.equal(await visit(`${redirect.url}?code=evil`), 400)
    assert.equal(await visit(redirect.url.replace('oauth2callback', 'other') + '?state=right&code=evil'), 400)
    assert.equal(await visit(`${redirect.url.replace('127.0.0.1', 'localhost')}?state=right&code=evil`), 400)
    assert.equal(await visit(`${redirect.url}?state=right&code=good`), 200)
    assert.equal(await redirect.code, 'good')
  })

  test('who says no, and who never comes', async (t) => {
    const refused = await startRedirectServer('s')
    t.after(() => refused.close())
    await visit(`${refused.url}?state=s&error=access_denied`)
    await assert.rejects(refused.code, /declined in the browser \(access_denied\)/)
    const late = await startRedirectServer('s', 5)
    t.after(() => late.close())
    await assert.rejects(late.code, /did not return in time/)
  })

  test('no refresh token, no sign-in', async (t) => {
    const { url } = await serve(t, (response) => reply(response, { access_token: 'ya29.first', expires_in: 3600 }))
    const client = parseOAuthClient({ installed: { ...FILE, auth_uri: `${url}/auth`, token_uri: `${url}/token` } })
    assert.ok('id' in client)
    await assert.rejects(
      signInWithBrowser(client, createHttpClient({}), (address) => void browse(new URL(address))),
      /no refresh token/,
    )
  })

  test('files that are no client’s', () => {
    const problem = (json: Parameters<typeof parseOAuthClient>[0]): string => {
      const client = parseOAuthClient(json)
      return 'problem' in client ? client.problem : 'none'
    }
    assert.match(problem({}), /not an OAuth client file/)
    assert.match(problem({ installed: { client_id: 'a' } }), /no client_secret/)
    assert.match(problem({ installed: { ...FILE, token_uri: 'http://evil.example' } }), /not https/)
    const usual = parseOAuthClient({ installed: FILE })
    assert.ok('id' in usual && usual.tokenUrl === 'https://oauth2.googleapis.com/token')
  })
})

/** What a browser does: first somebody who guesses, then the person who agrees. */
async function browse(consent: URL): Promise<number[]> {
  const back = new URL(consent.searchParams.get('redirect_uri') ?? '')
  const guess = await visit(`${back.href}?state=guess&code=evil`)
  return [guess, await visit(`${back.href}?state=${consent.searchParams.get('state')}&code=the-code`)]
}

async function visit(url: string): Promise<number> {
  const response = await fetch(url)
  await response.text()
  return response.status
}
