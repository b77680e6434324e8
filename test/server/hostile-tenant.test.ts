import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFolderReader } from '../../src/host/files/folder-reader.ts'
import { type TenantConfig, hashToken } from '../../src/server/http/tenants.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { callApi, place, startTestServer, tenant, until } from './support.ts'

const SECRET = 'the-secret-of-acme'

const deploy = tool({
  name: 'deploy',
  description: 'Deploys.',
  parameters: { type: 'object', properties: {} },
  execute: () => 'Deployed.',
})

/** Two tenants on a server; one waits for an approval and has secrets, and the other one is hostile. */
async function startStage(limits: TenantConfig['limits'] = {}) {
  const files = mkdtempSync(join(place, 'workspaces-'))
  for (const name of ['acme', 'evil']) mkdirSync(join(files, name, 's'), { recursive: true })
  writeFileSync(join(files, 'acme/s/secret.txt'), SECRET)
  writeFileSync(join(files, 'evil/s/own.txt'), 'own')
  const tokens: TenantConfig['tokens'] = [
    { hash: hashToken('evil-token'), scopes: ['read', 'prompt'] },
    { hash: hashToken('evil-reader'), scopes: ['read'] },
    { hash: hashToken('evil-approver'), scopes: ['approve'] },
    { hash: hashToken('evil-scraper'), scopes: ['metrics'] },
  ]
  const git = ['https://', 'https://git.example/evil', 'ssh://git@git.example/evil']
  const started = await startTestServer(
    { start: 'prompt', steps: [{ call: [{ name: 'deploy', args: {} }] }, { say: SECRET }] },
    {
      tools: [deploy],
      tenants: { ...tenant('acme'), ...tenant('evil', { tokens, limits, git }) },
      findWorkspaceFiles: (name, session) =>
        session === 's' ? createFolderReader(join(files, name, session)) : undefined,
      maxBodyBytes: 1_000_000,
    },
  )
  const as =
    (token: string) =>
    (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      callApi(started.server.url, method, path, body, { authorization: `Bearer ${token}`, ...headers })
  const [acme, evil] = [as('acme-token'), as('evil-token')]
  for (const caller of [acme, evil]) assert.equal((await caller('POST', '/v1/sessions', { id: 's' })).status, 201)
  assert.equal((await acme('POST', '/v1/sessions/s/prompts', { input: SECRET })).status, 202)
  await until('acme waits', async () => (await acme('GET', '/v1/sessions/s')).json['state'] === 'waiting')
  const { approvals } = (await acme('GET', '/v1/sessions/s/approvals')).json as unknown as {
    approvals: { id: string }[]
  }
  return { ...started, as, acme, evil, ask: approvals[0]?.id ?? '', files }
}

/** Bytes as they are; resolves with what comes back until the server closes the connection. */
function sendRaw(url: string, ...pieces: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(Number(new URL(url).port), '127.0.0.1')
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.on('close', () => resolve(text))
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? resolve(text) : reject(error)))
    for (const piece of pieces) socket.write(Buffer.from(piece, 'latin1'))
  })
}

test('a hostile tenant: 40 further attempts, all refused, and nothing of it in the log of the server', async () => {
  const { server, backend, as, acme, evil, ask, errors } = await startStage()
  const { url } = server
  const [reader, approver, scraper] = [as('evil-reader'), as('evil-approver'), as('evil-scraper')]
  const before = JSON.stringify(await backend.getStore('acme').read('s'))
  const head = 'Host: 127.0.0.1\r\nAuthorization: Bearer evil-token\r\nConnection: close\r\n'
  const raw = async (line: string, more = '', body = '') => {
    const text = await sendRaw(url, `${line} HTTP/1.1\r\n${head}${more}\r\n${body}`)
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text }
  }
  const deep = `{"input":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
  const prompt = (body: unknown, headers?: Record<string, string>) =>
    evil('POST', '/v1/sessions/s/prompts', body, headers)
  const workspace = (git: string, ref?: string) =>
    evil('POST', '/v1/sessions', { workspace: { git, ...(ref !== undefined && { ref }) } })
  const json = { 'content-type': 'application/json' }
  const attempts: Record<string, () => Promise<{ readonly status: number; readonly text: string }>> = {
    // Others' sessions, through ids and fields
    'answer the question of another': () => approver('POST', `/v1/sessions/s/approvals/${ask}`, { approved: true }),
    'a tenant in the body of a session': () => evil('POST', '/v1/sessions', { id: 'x', tenant: 'acme' }),
    'a tenant in the body of a prompt': () => prompt({ input: 'x', tenant: 'acme', session: 'other' }),
    'a tenant in the body of a schedule': () =>
      evil('PUT', '/v1/schedules/a', { session: 's', cron: '@daily', input: 'x', tenant: 'acme' }),
    'a tenant in a path': () => evil('GET', '/v1/sessions/acme%2Fs'),
    'a session of another as the parent': () =>
      evil('POST', '/v1/sessions', { parent: { session: 's', seq: 1, tenant: 'acme' } }),
    'a fork with a tenant': () => evil('POST', '/v1/sessions/s/fork', { id: 'acme/stolen' }),
    'the id of a folder': () => evil('POST', '/v1/sessions', { id: '..' }),
    'an id with a null': () => evil('GET', '/v1/sessions/s%00'),
    'a schedule named like a prototype': () => evil('DELETE', '/v1/schedules/__proto__'),
    'an inherited field in a body': () =>
      evil('POST', '/v1/sessions', '{"__proto__":{"model":"anthropic/claude-opus-5"},"constructor":{}}', json),
    'a position of another session': () => evil('GET', '/v1/sessions/s/events?after=-1'),
    'a Last-Event-ID that names a session': () =>
      evil('GET', '/v1/sessions/s/events', undefined, { 'last-event-id': 'acme/s/1' }),
    'a cursor that names a tenant': () => evil('GET', '/v1/sessions?before=1.acme%2Fs'),
    // Scopes
    'create with a token that only reads': () => reader('POST', '/v1/sessions', {}),
    'schedule with a token that only reads': () =>
      reader('PUT', '/v1/schedules/a', { session: 's', cron: '@daily', input: 'x' }),
    'remove with a token that only reads': () => reader('DELETE', '/v1/sessions/s'),
    'fork with a token that only reads': () => reader('POST', '/v1/sessions/s/fork', {}),
    'approve with a token that only prompts': () => evil('POST', `/v1/sessions/s/approvals/${ask}`, { approved: true }),
    'prompt with a token that only approves': () => approver('POST', '/v1/sessions/s/prompts', { input: 'x' }),
    'read with a token that only approves': () => approver('GET', '/v1/sessions/s/history'),
    'read with a token for metrics': () => scraper('GET', '/v1/sessions'),
    'metrics with a token that reads and prompts': () => evil('GET', '/metrics'),
    'a scope in a header': () => reader('POST', '/v1/sessions', {}, { 'x-scope': 'admin', scope: 'admin' }),
    'another method in a header': () =>
      reader('GET', '/v1/sessions/s/cancel', undefined, { 'x-http-method-override': 'POST' }),
    // Tokens
    'a token in the query': () =>
      callApi(url, 'GET', '/v1/sessions?token=acme-token', undefined, { authorization: '' }),
    'a token in a cookie': () =>
      callApi(url, 'GET', '/v1/sessions', undefined, { authorization: '', cookie: 'token=acme-token' }),
    'Basic with the token': () =>
      callApi(url, 'GET', '/v1/sessions', undefined, { authorization: `Basic ${btoa('acme:acme-token')}` }),
    'an empty token': () => as('')('GET', '/v1/sessions'),
    'the beginning of a token': () => as('evil-toke')('GET', '/v1/sessions'),
    'a token in other letters': () => as('EVIL-TOKEN')('GET', '/v1/sessions'),
    // Bodies and requests that no client would send
    'a body that is nested deeply': () => prompt(deep, json),
    'a part that is nested deeply': () => prompt(`{"input":[{"kind":"text","text":${deep}}]}`, json),
    'a deep body that never ends': () => prompt('['.repeat(500_000), json),
    'a body that is not UTF-8': () =>
      raw('POST /v1/sessions', 'Content-Type: application/json\r\nContent-Length: 10\r\n', '{"id":"\xFF"}'),
    'a target that is no path': () => raw('GET //'),
    'a target of another host': () => raw('GET http://acme.example/v1/sessions/private'),
    'a header in an idempotency key': () =>
      raw('POST /v1/sessions/s/cancel', 'Idempotency-Key: a\tb\r\nContent-Length: 0\r\n'),
    'two lengths': () =>
      raw('POST /v1/sessions', 'Content-Length: 2\r\nContent-Length: 40\r\nContent-Type: application/json\r\n', '{}'),
    'a length and chunks': () =>
      raw(
        'POST /v1/sessions',
        'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
        '0\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n',
      ),
    'headers that are too long': () => raw('GET /v1/sessions', `X-Long: ${'x'.repeat(100_000)}\r\n`),
    'a long body where none belongs': () => evil('GET', '/healthz').then(() => sendBodyToHealth(url)),
    'a parameter twice': () => evil('GET', '/v1/sessions/s/files?path=own.txt&path=../../acme/s/secret.txt'),
    // Repositories
    'the metadata service as a repository': () => workspace('https://169.254.169.254/latest/meta-data'),
    'this machine as a repository': () => workspace('https://localhost/x'),
    'this machine by its number': () => workspace('https://[::1]/x'),
    'a name of the own network': () => workspace('https://git.internal/x'),
    'a number in another form': () => workspace('https://0x7f.1/x'),
    'a program as a transport': () => workspace('ext::sh -c "touch /tmp/owned"'),
    'a plain http repository': () => workspace('http://git.example/evil/x'),
    'an option as the host': () => workspace('ssh://-oProxyCommand=touch%20x/evil'),
    'an option as the user': () => workspace('ssh://-oProxyCommand=x@git.example/evil'),
    'another user of ssh': () => workspace('ssh://root@git.example/evil/x'),
    'a repository with a password': () => workspace('https://user:password@git.example/evil'),
    'an option as the ref': () => workspace('https://git.example/evil/x', '--upload-pack=touch x'),
    'a ref that is a refspec': () => workspace('https://git.example/evil/x', 'main:refs/heads/x'),
    'media from a file': () =>
      prompt({ input: [{ kind: 'media', mime: 'image/png', data: 'x', uri: 'file:///etc/passwd' }] }),
    'a webhook': () => prompt({ input: 'x', callback: 'http://169.254.169.254/' }),
  }
  assert.ok(Object.keys(attempts).length >= 40)
  for (const [what, run] of Object.entries(attempts)) {
    const { status, text } = await run()
    assert.ok(status >= 400 && status < 500, `${what}: ${status} ${text}`)
    assert.ok(!text.includes(SECRET) && !text.includes('acme-token'), `${what}: ${text}`)
  }
  assert.equal(JSON.stringify(await backend.getStore('acme').read('s')), before)
  assert.equal((await acme('GET', '/v1/sessions/s')).json['state'], 'waiting')
  assert.deepEqual((await evil('GET', '/v1/sessions')).json['sessions']?.['length'], 1)
  const metrics = await scraper('GET', '/metrics')
  assert.equal(metrics.status, 200)
  for (const name of ['acme', 'evil', SECRET]) assert.ok(!metrics.text.includes(name), name)
  assert.deepEqual(errors, [])
})

/** A body of a million bytes for a route that takes none. */
function sendBodyToHealth(url: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': '1000000' }
    const sent = request(`${url}/healthz`, { method: 'GET', headers, agent: false }, (response) => {
      response.resume()
      resolve({ status: response.statusCode ?? 0, text: '' })
    })
    sent.on('error', reject)
    sent.write('x')
  })
}

test('a hostile tenant: keys, limits and names that are used at the same time', async () => {
  const { server, backend, acme, evil, ask } = await startStage({ promptsPerMinute: 300, streams: 2 })

  // A prompt cannot take the id of an answer, which would then be lost.
  assert.equal(
    (await acme('POST', '/v1/sessions/s/prompts', { input: 'x' }, { 'idempotency-key': `reply-${ask}` })).status,
    202,
  )
  assert.equal((await acme('POST', `/v1/sessions/s/approvals/${ask}`, { approved: true })).status, 202)
  await until('acme goes on', async () => {
    const { entries } = await backend.getStore('acme').read('s')
    return entries.some((entry) => entry.kind === 'reply')
  })

  // Prompts at the same time wait in no larger number than the limit.
  await evil('POST', '/v1/sessions/s/prompts', { input: 'wait' })
  await until('evil waits', async () => (await evil('GET', '/v1/sessions/s')).json['state'] === 'waiting')
  const sent = await Promise.all(
    Array.from({ length: 150 }, () => evil('POST', '/v1/sessions/s/prompts', { input: 'x' })),
  )
  const waiting = await backend.inbox.list({ tenant: 'evil', session: 's' })
  assert.equal(waiting.length, 100)
  assert.equal(sent.filter(({ status }) => status === 202).length, 100)
  assert.ok(sent.every(({ status }) => status === 202 || status === 429))

  // A schedule is a prompt a minute: there are not more of them than prompts within a minute.
  const few = await startStage({ promptsPerMinute: 3 })
  const set = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      few.evil('PUT', `/v1/schedules/n${at}`, { session: 's', cron: '* * * * *', input: 'x' }),
    ),
  )
  assert.equal(set.filter(({ status }) => status === 200).length, 3)

  // Cancelling what does not run stores nothing.
  await few.evil('POST', '/v1/sessions', { id: 'idle' })
  for (let count = 0; count < 20; count++)
    assert.equal((await few.evil('POST', '/v1/sessions/idle/cancel')).status, 202)
  assert.deepEqual(await few.backend.inbox.list({ tenant: 'evil', session: 'idle' }), [])

  // The streams of one tenant are not those of another, and count again when they are closed.
  const leave = new AbortController()
  const open = (token: string) =>
    fetch(`${server.url}/v1/sessions/s/events`, {
      headers: { authorization: `Bearer ${token}` },
      signal: leave.signal,
    })
  const streams = await Promise.all([1, 2, 3, 4].map(() => open('evil-token')))
  assert.deepEqual(
    streams.map(({ status }) => status).sort((one, other) => one - other),
    [200, 200, 429, 429],
  )
  assert.equal((await open('acme-token')).status, 200)
  leave.abort()
  await until('they count no more', async () => {
    const again = new AbortController()
    const headers = { authorization: 'Bearer evil-token' }
    const { status } = await fetch(`${server.url}/v1/sessions/s/events`, { headers, signal: again.signal })
    again.abort()
    return status === 200
  })

  // A session that takes the name of a removed one has nothing of it.
  await few.evil('POST', '/v1/sessions', { id: 'again' })
  await few.evil('POST', '/v1/sessions/again/prompts', { input: 'old' }, { 'idempotency-key': 'k' })
  await until('it waits', async () => (await few.evil('GET', '/v1/sessions/again')).json['state'] === 'waiting')
  await few.evil('POST', '/v1/sessions/again/prompts', { input: 'older' })
  await until('it is removed', async () => (await few.evil('DELETE', '/v1/sessions/again')).status === 204)
  await few.evil('POST', '/v1/sessions', { id: 'again' })
  const { entries } = await few.backend.getStore('evil').read('again')
  assert.deepEqual(
    entries.map(({ kind }) => kind),
    ['open', 'settings'],
  )
  assert.deepEqual((await few.evil('GET', '/v1/sessions/again/approvals')).json['approvals'], [])
})

test('a slow client holds neither a request nor the server', async () => {
  const { server, evil } = await startStage()
  // Many connections that send nothing, or half of a header.
  const slow = Array.from({ length: 50 }, (_, at) => {
    const socket = connectSocket(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    if (at % 2 === 0) socket.write('POST /v1/sessions/s/prompts HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ')
    return socket
  })
  // A stream that is never read.
  const stalled = connectSocket(Number(new URL(server.url).port), '127.0.0.1')
  stalled.on('error', () => undefined)
  stalled.pause()
  stalled.write('GET /v1/sessions/s/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer evil-token\r\n\r\n')
  for (let count = 0; count < 20; count++) assert.equal((await evil('GET', '/v1/sessions/s')).status, 200)
  for (const socket of [...slow, stalled]) socket.destroy()
})
